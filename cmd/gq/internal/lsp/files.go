package lsp

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// pathOf returns the path of a file URI. It reports false for another URI.
func pathOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return "", false
	}
	path := u.Path
	// On Windows, the path of a URI is /c:/folder.
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.Clean(filepath.FromSlash(path)), true
}

// uriOf returns the URI of a path.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// diskFile is the content of a file that is not open in the editor.
type diskFile struct {
	size    int64
	changed time.Time
	text    *text
}

// disk reads files and keeps their contents. It reads a file again if its size or the time of its last
// change differs. It is not safe for concurrent use.
type disk struct{ files map[string]*diskFile }

// read returns the content of a file.
func (d *disk) read(path string) (*text, error) {
	info, err := os.Stat(path)
	if err != nil {
		delete(d.files, path)
		return nil, err
	}
	if f := d.files[path]; f != nil && f.size == info.Size() && f.changed.Equal(info.ModTime()) {
		return f.text, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &diskFile{size: info.Size(), changed: info.ModTime(), text: newText(string(b))}
	d.files[path] = f
	return f.text, nil
}

// dirOf returns the folder of a file.
func dirOf(path string) string { return filepath.Dir(path) }

// isQueries reports whether a path is that of a query file.
func isQueries(path string) bool { return filepath.Ext(path) == ".gq" }
