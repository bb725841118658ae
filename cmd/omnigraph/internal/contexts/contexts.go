// Package contexts keeps the named graphs of a user, so that commands need no flags for them.
package contexts

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Var is the environment variable with the name of the context to use instead of the current one.
const Var = "OMNIGRAPH_CONTEXT"

// FileName is the path of the file, as messages show it. It has no tokens.
const FileName = "~/.omnigraph/contexts.yaml"

// Context names a graph: of a server, in a folder, or in shared storage.
type Context struct {
	Server string `yaml:"server,omitempty"` // URL of a server
	Store  string `yaml:"store,omitempty"`  // path of a folder, or URL of shared storage
	Graph  string `yaml:"graph,omitempty"`  // id of the graph
}

// File is the content of the file.
type File struct {
	Current  string             `yaml:"current,omitempty"` // name of the context in use
	Contexts map[string]Context `yaml:"contexts"`
}

// path returns the path of the file.
func path() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".omnigraph", "contexts.yaml"), nil
}

// Read reads the file. Without one, the result has no contexts.
func Read() (*File, error) {
	f := &File{Contexts: map[string]Context{}}
	name, err := path()
	if err != nil {
		return f, nil // without a home folder there are none
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	if err := yaml.UnmarshalWithOptions(text, f, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %w; correct the file, or delete it and set your contexts again", name, err)
	}
	return f, nil
}

// Write replaces the file.
func (f *File) Write() error {
	name, err := path()
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(f)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(name), "contexts-*.yaml")
	if err != nil {
		return err
	}
	_, err = next.Write(text)
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}

// Names returns the names of the contexts, in order.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.Contexts)) }

// InUse returns the context that commands use, and its name: the one that [Var] names, or else the current one. The name is "" if there
// is none.
func (f *File) InUse() (string, Context, error) {
	name, from := f.Current, FileName
	if v := os.Getenv(Var); v != "" {
		name, from = v, Var
	}
	if name == "" {
		return "", Context{}, nil
	}
	c, ok := f.Contexts[name]
	if !ok {
		return "", c, fmt.Errorf("%s names the context %s, which does not exist; %s", from, name, f.have())
	}
	return name, c, nil
}

// have says which contexts there are.
func (f *File) have() string {
	if len(f.Contexts) == 0 {
		return "there is none; make one with: omnigraph context set"
	}
	return "the contexts are " + strings.Join(f.Names(), ", ")
}

// Find returns the context with a name.
func (f *File) Find(name string) (Context, error) {
	c, ok := f.Contexts[name]
	if !ok {
		return c, fmt.Errorf("there is no context %s; %s", name, f.have())
	}
	return c, nil
}
