package dataimport

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// Files returns the files of each source. The names of the sources are relative to the folder `dir`. The list `given` has files
// that replace those of the sources with the same names, or of the only source; if it is not empty, sources without a file
// have none. A file - is standard input, and a name with :// is a URL, which the caller must copy to a file. A source that reads
// a database has no file.
func (m *Map) Files(dir string, given []string) ([][]record.File, error) {
	files := make([][]record.File, len(m.Sources))
	for _, path := range given {
		i, err := m.sourceOf(path)
		if err != nil {
			return nil, err
		}
		name := path
		if path == "-" {
			name = "standard input"
			if read := &m.Sources[i].Read; read.Format == "" {
				read.Format = record.FormatOf(m.Sources[i].Name)
			}
		}
		files[i] = append(files[i], record.File{Name: name, Path: path})
	}
	if len(given) > 0 {
		return files, nil
	}
	for i, s := range m.Sources {
		if s.InDatabase() {
			continue
		}
		path := s.Name
		if IsURL(path) {
			files[i] = []record.File{{Name: path, Path: path}}
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if _, err := os.Stat(path); err == nil {
			files[i] = []record.File{{Name: path, Path: path}}
			continue
		}
		found, err := filepath.Glob(path)
		if err != nil {
			return nil, fmt.Errorf("the source %s: %w", s.Name, err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("no file %s exists, which the map names as a source; name the files after the map, or mend the map", path)
		}
		for _, path := range found {
			files[i] = append(files[i], record.File{Name: path, Path: path})
		}
	}
	return files, nil
}

// IsURL reports whether the name of a source or a file is a URL.
func IsURL(name string) bool { return strings.Contains(name, "://") }

// base returns the last part of a path, or of the path of a URL.
func base(name string) string {
	if IsURL(name) {
		name, _, _ = strings.Cut(name, "?")
	}
	return filepath.Base(name)
}

// sourceOf returns the index of the source that a file belongs to.
func (m *Map) sourceOf(path string) (int, error) {
	var fits []int
	for i, s := range m.Sources {
		if s.InDatabase() {
			continue
		}
		ok, _ := filepath.Match(base(s.Name), base(path))
		if s.Name == path {
			return i, nil
		}
		if ok {
			fits = append(fits, i)
		}
	}
	if len(fits) == 0 && len(m.Sources) == 1 && !m.Sources[0].InDatabase() {
		return 0, nil
	}
	if len(fits) != 1 {
		list := names(m.Sources, func(s Source) string { return s.Name })
		return 0, fmt.Errorf("%s fits %d sources of the map, expected one; its sources are %s", path, len(fits), strings.Join(list, ", "))
	}
	return fits[0], nil
}
