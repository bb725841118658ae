package codegen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/omnigraph-go/omnigraph/codegen/internal/golang"
)

// Stale returns the names of stale files in the folder `dir`, sorted: files that differ from those
// in `files`, that are missing from the folder, or that an earlier generation left behind. A file
// that [Empty] has emptied is not stale.
func (files Files) Stale(dir string) ([]string, error) {
	leftover, err := files.leftover(dir)
	if err != nil {
		return nil, err
	}
	var stale []string
	for name, text := range leftover {
		if !emptied(text) {
			stale = append(stale, name)
		}
	}
	changed, err := files.changed(dir)
	if err != nil {
		return nil, err
	}
	stale = append(stale, changed...)
	slices.Sort(stale)
	return stale, nil
}

// Removal says how [Files.Write] removes a Go file that an earlier generation left behind.
type Removal int

const (
	// Delete deletes the file.
	Delete Removal = iota

	// Empty leaves a file that no build includes. The next Write deletes it. Use Empty while go
	// generate runs and has not visited the folder yet: go generate lists the files of all
	// packages first, and stops when it cannot open one of them later.
	Empty
)

// Write updates dir to hold the files, and removes files that an earlier generation left behind. It
// keeps files that were not generated. It writes all files under temporary names before it renames
// the first, so that a full disk leaves dir unchanged. It returns the names of the files that
// changed, sorted.
func (files Files) Write(dir string, removal Removal) (changed []string, err error) {
	leftover, err := files.leftover(dir)
	if err != nil {
		return nil, err
	}
	if changed, err = files.changed(dir); err != nil {
		return nil, err
	}
	write := maps.Clone(files)
	for name, text := range leftover {
		changed = append(changed, name)
		if removal == Empty && !emptied(text) {
			write[name] = empty(text)
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	slices.Sort(changed)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	staging, err := os.MkdirTemp(dir, ".gq-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	for _, name := range changed {
		if text, ok := write[name]; ok {
			if err := os.WriteFile(filepath.Join(staging, name), text, 0o644); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range changed {
		to := filepath.Join(dir, name)
		if _, ok := write[name]; !ok {
			err = os.Remove(to)
		} else {
			err = os.Rename(filepath.Join(staging, name), to)
		}
		if err != nil {
			return nil, fmt.Errorf("replace %s: %w", to, err)
		}
	}
	return changed, nil
}

// Names returns the names of the files, sorted.
func (files Files) Names() []string { return slices.Sorted(maps.Keys(files)) }

// changed returns the names of the files that are missing from dir or differ there.
func (files Files) changed(dir string) ([]string, error) {
	var names []string
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil || !bytes.Equal(got, want) {
			names = append(names, name)
		}
	}
	return names, nil
}

// leftover returns the generated Go files in dir that are not in files, by name. If files has no Go at all, another
// generation writes the Go.
func (files Files) leftover(dir string) (Files, error) {
	if !slices.ContainsFunc(files.Names(), func(name string) bool { return filepath.Ext(name) == ".go" }) {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found := Files{}
	for _, e := range entries {
		if _, ok := files[e.Name()]; ok || !e.Type().IsRegular() || filepath.Ext(e.Name()) != ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(text, []byte(golang.Header+"\n")) {
			found[e.Name()] = text
		}
	}
	return found, nil
}

// emptiedHead is the start of each file that [Empty] has emptied.
const emptiedHead = golang.Header + "\n\n//go:build ignore\n\n// This file has no generated code any more. The next gq generate deletes it.\n"

// emptied reports whether text is a file that the generator has emptied.
func emptied(text []byte) bool { return bytes.HasPrefix(text, []byte(emptiedHead)) }

// empty returns the emptied form of a generated Go file. It keeps the package clause, without which
// tools report the file.
func empty(text []byte) []byte {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("package ")) {
			return append([]byte(emptiedHead), line...)
		}
	}
	return []byte(emptiedHead + "package ignored\n")
}
