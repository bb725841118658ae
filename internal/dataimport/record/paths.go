package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxPaths is the maximum number of paths in the records of a file.
const maxPaths = 500

// Paths returns the paths to the values in the records of a JSON file that are no objects, in the order in which they occur first.
// A name with a point cannot be in a path to a value inside an object, so such values are left out.
func Paths(f File, opts Options) (paths []string, err error) {
	opts.Format = JSON
	r, err := Open(f, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	j := r.(*jsonReader)
	known := map[string]bool{}
	for {
		raw, err := j.next()
		if err != nil {
			if err = j.fault(err); err == io.EOF {
				return paths, nil
			}
			return nil, err
		}
		j.row++
		if raw.Kind() != '{' {
			return nil, &Fault{File: f.Name, Line: j.lines.at(j.dec.InputOffset() - int64(len(raw))), Row: j.row, Value: string(raw), Err: errors.New("the record is not an object; name the path to the records with --records")}
		}
		add := func(path string) {
			if !known[path] {
				known[path] = true
				paths = append(paths, path)
			}
		}
		if err := members(jsontext.NewDecoder(bytes.NewReader(raw)), nil, add); err != nil {
			return nil, j.fault(err)
		}
		if len(paths) > maxPaths {
			return nil, &Fault{File: f.Name, Row: j.row, Err: fmt.Errorf("the records have more than %d different members; if their names are data, change the file so that the members have fixed names", maxPaths)}
		}
	}
}

// members calls a function with the paths to the values in an object.
func members(dec *jsontext.Decoder, path []string, add func(path string)) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		here := append(slices.Clone(path), token.String())
		pointed := len(here) > 1 && slices.ContainsFunc(here, func(name string) bool { return strings.Contains(name, ".") })
		if dec.PeekKind() == '{' && !pointed {
			if err := members(dec, here, add); err != nil {
				return err
			}
			continue
		}
		if err := dec.SkipValue(); err != nil {
			return err
		}
		if !pointed {
			add(strings.Join(here, "."))
		}
	}
	_, err := dec.ReadToken()
	return err
}
