package lsp

import (
	"context"
	"fmt"
	"slices"
)

// didOpen keeps the text of a document that the editor opened.
func (s *server) didOpen(p *didOpenParams) (any, error) {
	path, ok := pathOf(p.TextDocument.URI)
	if !ok {
		return nil, nil // a document without a file, such as a comparison, gets no features
	}
	s.docs[path] = &document{uri: p.TextDocument.URI, path: path, version: p.TextDocument.Version, text: newText(p.TextDocument.Text), to: len(p.TextDocument.Text)}
	s.projectOf(path)
	s.wake(path)
	return nil, nil
}

// didChange applies changes to a document.
func (s *server) didChange(p *didChangeParams) (any, error) {
	d := s.document(p.TextDocument.URI)
	if d == nil {
		return nil, fmt.Errorf("the document %s is not open; open it before you change it", p.TextDocument.URI)
	}
	changed, splices, err := d.text.apply(p.ContentChanges)
	if err != nil {
		return nil, err
	}
	for _, sp := range splices {
		d.own, d.carried = moved(d.own, sp), moved(d.carried, sp)
		d.touch(sp)
	}
	d.text, d.version = changed, p.TextDocument.Version
	s.wake(d.path)
	return nil, nil
}

// moved returns the findings that a splice leaves as they are, at their new places.
func moved(list []finding, sp splice) []finding {
	var out []finding
	for _, f := range list {
		var ok bool
		if f.from, f.to, ok = sp.move(f.from, f.to); ok {
			out = append(out, f)
		}
	}
	return out
}

// didSave reads the configurations again, because a saved file may belong to a graph only now.
func (s *server) didSave(*documentParams) (any, error) {
	s.stale = true
	s.wake("")
	return nil, nil
}

// didClose forgets the text of a document and its findings. From now on, the server uses the file on the disk,
// which may have another text.
func (s *server) didClose(p *documentParams) (any, error) {
	if d := s.document(p.TextDocument.URI); d != nil {
		// The editor may spell the address of the file differently from uriOf, so d must still be known.
		s.publish(context.Background(), d.path, nil)
		delete(s.docs, d.path)
		delete(s.published, d.path)
		s.stale = true
		s.wake("")
	}
	return nil, nil
}

// didChangeWatchedFiles reads the configurations and the files again.
func (s *server) didChangeWatchedFiles(*watchedFilesParams) (any, error) {
	s.stale = true
	s.wake("")
	return nil, nil
}

// document returns an open document, or nil.
func (s *server) document(uri string) *document {
	path, ok := pathOf(uri)
	if !ok {
		return nil
	}
	return s.docs[path]
}

// wake makes checkLoop check the document with a path, unless the path is "". It also makes
// surveyLoop check all graphs after a pause. REQUIRES: s.mu.
func (s *server) wake(path string) {
	if path != "" {
		s.changed[path] = true
		s.changes.Add(1)
		signal(s.check)
	}
	signal(s.survey)
}

// signal wakes a loop. One signal is enough for all changes since the loop last looked.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// projectOf returns the project of a file. When it meets a project for the first time, it reads the
// configuration. REQUIRES: s.mu.
func (s *server) projectOf(path string) *project {
	dir, ok := findProject(path)
	p := s.projects[dir]
	if p == nil || p.cluster != ok {
		p = &project{dir: dir, cluster: ok}
		s.projects[dir] = p
		s.load(p)
		s.stale = true // surveyLoop reads the contracts to compare with
	}
	if _, listed := s.docs[path]; listed && isSource(path) && len(p.of(path)) == 0 {
		s.adopt(p, path)
	}
	return p
}

// load reads the configuration of a project. REQUIRES: s.mu.
func (s *server) load(p *project) {
	p.load(func(path string) (string, error) {
		t, err := s.read(path)
		if err != nil {
			return "", err
		}
		return t.content, nil
	})
}

// adopt adds a source to a project that does not list it. In each folder, the sources outside of
// every graph form a graph without a name. That graph has the folder's schema if there is exactly
// one. REQUIRES: s.mu.
func (s *server) adopt(p *project, path string) {
	folder := &project{dir: dirOf(path)}
	folder.loadFolder()
	g := folder.graphs[0]
	id := "outside " + folder.dir
	if !isQueries(path) {
		id = "outside " + path
	}
	for _, other := range p.graphs {
		if other.id == id {
			if isQueries(path) && !slices.Contains(other.queries, path) {
				other.queries = append(other.queries, path)
			}
			return
		}
	}
	g.project, g.id = p, id
	g.queries = slices.DeleteFunc(g.queries, func(q string) bool { return len(p.of(q)) > 0 })
	if isQueries(path) && !slices.Contains(g.queries, path) {
		g.queries = append(g.queries, path)
	}
	if !isQueries(path) {
		g.schema = path
	}
	p.graphs = append(p.graphs, g)
}

// read returns the text of a file: that of the open document, or else that on the disk. REQUIRES: s.mu.
func (s *server) read(path string) (*text, error) {
	if d := s.docs[path]; d != nil {
		return d.text, nil
	}
	return s.disk.read(path)
}
