package reconcile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// RevisionFile is the name of the file in the storage folder that holds the revision.
const RevisionFile = "cluster.revision"

// tempExt is the extension of a temporary file with a revision that is not in force yet.
const tempExt = ".tmp"

// RevisionFormat is the latest version of the file's layout. Each format is a header line followed by a JSON
// object, which ends the file:
//
//	omnigraph cluster revision 1 sha256:<of all bytes after this line, in hex>\n
//	{"revision": …, "config_digest": …, "applied_at": …, "actor": …, "graphs": […]}\n
//
// The object has the fields of [Revision] under their JSON names. The graphs are sorted by id. In format 2 a
// graph may have stored queries, and the object is one line. In format 3 the revision also has the policies and
// settings_digest. In format 4 it may have a message, and a graph proposed queries. In format 5 it has limits. Programs write the
// lowest format that holds the revision.
const RevisionFormat = 5

// revisionMagic starts the first line of a revision. The format number follows it.
const revisionMagic = "omnigraph cluster revision "

// Revision records the last apply: the graphs with their schemas, stored queries and policies.
type Revision struct {
	// Number starts at 1. It grows by 1 each time that an apply records a different configuration.
	Number  uint64  `json:"revision"`
	Config  string  `json:"config_digest"`     // digest, sha256:…, of the graphs with their schemas and queries, the policies and the settings
	Applied int64   `json:"applied_at"`        // Unix microseconds
	Actor   string  `json:"actor"`             // actor that applied
	Message string  `json:"message,omitempty"` // why, in the words of the actor; "" before format 4
	Graphs  []Graph `json:"graphs"`            // sorted by id

	Policy   *Policy `json:"policy,omitempty"`          // of the server itself; nil if there is none, and before format 3
	Settings string  `json:"settings_digest,omitempty"` // digest of the text of cluster.yaml; "" before format 3

	Limits *cluster.Limits `json:"limits,omitempty"` // nil before format 5; see Limit

	head string // the first line of the file; see Newer
}

// Policy is a policy file.
type Policy struct {
	File string `json:"file"` // path in the folder of cluster.yaml, with slashes
	Text string `json:"text"`
}

// HasPolicies reports whether the revision has the policies of the graphs and of the server. Earlier formats do
// not have them. r may be nil.
func (r *Revision) HasPolicies() bool { return r != nil && r.Settings != "" }

// Graph is a graph of a revision.
type Graph struct {
	ID     string `json:"graph_id"`
	Schema string `json:"schema_digest"` // digest of the schema
	Source string `json:"schema_source"` // text of the schema

	Stored *Stored `json:"queries,omitempty"` // the stored queries; nil if the graph has none, and in format 1
	Policy *Policy `json:"policy,omitempty"`  // nil if the graph has none, and before format 3

	Limits *GraphLimits `json:"limits,omitempty"` // nil before format 5

	Proposed *Stored `json:"proposed,omitempty"` // the proposed queries, which are in no file; nil if the graph has none
}

// policy returns the policy of a graph. g may be nil.
func (g *Graph) policy() *Policy {
	if g == nil {
		return nil
	}
	return g.Policy
}

// stored returns the stored queries of a graph. g may be nil.
func (g *Graph) stored() *Stored {
	if g == nil {
		return nil
	}
	return g.Stored
}

// FormatError is the error for a revision in a format that this program cannot read.
type FormatError struct {
	File   string // name of the file
	Format int    // format number of the file
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s has format %d, but this program reads formats up to %d; use the program that wrote the file, or a newer one", e.File, e.Format, RevisionFormat)
}

// Graph returns the graph with the given id, or nil if there is none. r may be nil.
func (r *Revision) Graph(id string) *Graph {
	if r == nil {
		return nil
	}
	for i := range r.Graphs {
		if r.Graphs[i].ID == id {
			return &r.Graphs[i]
		}
	}
	return nil
}

// ReadRevision reads the revision in a storage folder. It returns nil if none is recorded. The
// error is a *engine.Corrupt, a *FormatError, or an error of reading the file.
func ReadRevision(fsys fs.FS, storage string) (*Revision, error) {
	name := filepath.Join(storage, RevisionFile)
	b, err := fs.ReadFile(fsys, name)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the applied revision: %w", err)
	}
	return decode(name, b)
}

// record puts a revision in force. The write is atomic, and it is durable when record returns.
func (c *Cluster) record(ctx context.Context, r *Revision) error {
	if c.Bucket != nil {
		return recordShared(ctx, c.Bucket, r)
	}
	if err := c.keep(); err != nil {
		return err
	}
	return c.replace(filepath.Join(c.Storage, RevisionFile), encode(r))
}

// replace makes a file with the given content, or replaces it, at once and durably.
func (c *Cluster) replace(name string, content []byte) error {
	temp := name + tempExt
	if err := c.FS.Remove(temp); err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	if err := c.write(temp, content); err != nil {
		return err
	}
	if err := c.FS.Rename(temp, name); err != nil {
		return err
	}
	return c.FS.SyncDir(filepath.Dir(name))
}

// write replaces a file in the storage folder.
func (c *Cluster) write(name string, b []byte) error {
	f, err := c.FS.Create(name)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(b, 0); err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(f.Sync(), f.Close())
}

// encode returns the text of a revision: a header line with the format and the digest, then JSON.
func encode(r *Revision) []byte {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	format := r.format()
	if format == 1 {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(r); err != nil {
		panic("reconcile: encode a revision: " + err.Error())
	}
	return append([]byte(revisionMagic+strconv.Itoa(format)+" "+digest(body.Bytes())+"\n"), body.Bytes()...)
}

// format returns the lowest format that can hold the revision.
func (r *Revision) format() int {
	if r.Limits != nil || slices.ContainsFunc(r.Graphs, func(g Graph) bool { return g.Limits != nil }) {
		return 5
	}
	if r.Message != "" || slices.ContainsFunc(r.Graphs, func(g Graph) bool { return g.Proposed != nil }) {
		return 4
	}
	if r.HasPolicies() || r.Policy != nil || slices.ContainsFunc(r.Graphs, func(g Graph) bool { return g.Policy != nil }) {
		return 3
	}
	if slices.ContainsFunc(r.Graphs, func(g Graph) bool { return g.Stored != nil }) {
		return 2
	}
	return 1
}

// decode reads the text that encode writes. Errors refer to the text by the name in the argument
// `file`.
func decode(file string, b []byte) (*Revision, error) {
	corrupt := func(detail string) error {
		return &engine.Corrupt{Object: file, Detail: detail + "; move the file away and run omnigraph cluster apply, which records the graphs that it finds"}
	}
	head, body, ok := bytes.Cut(b, []byte("\n"))
	text, isRevision := strings.CutPrefix(string(head), revisionMagic)
	number, sum, spaced := strings.Cut(text, " ")
	format, err := strconv.Atoi(number)
	switch {
	case !ok || !isRevision || !spaced || err != nil || format < 1 || strconv.Itoa(format) != number:
		return nil, corrupt("it does not start with the header of a revision")
	case format > RevisionFormat:
		return nil, &FormatError{File: file, Format: format}
	case sum != digest(body):
		return nil, corrupt("its content has digest " + digest(body) + ", but its first line gives " + sum)
	}
	r := &Revision{}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return nil, corrupt("its content is not a revision: " + err.Error())
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, corrupt("there is text after the revision")
	}
	if r.format() > format {
		return nil, corrupt("it has what its format has not")
	}
	if detail := r.fault(); detail != "" {
		return nil, corrupt(detail)
	}
	r.head = string(head)
	return r, nil
}

// fault describes what is invalid in a revision that was read, or returns "".
func (r *Revision) fault() string {
	if r.Number == 0 {
		return "its number is 0"
	}
	for i, g := range r.Graphs {
		switch {
		case !cluster.IsGraphID(g.ID):
			return fmt.Sprintf("%q is not a valid name of a graph", g.ID)
		case i > 0 && r.Graphs[i-1].ID >= g.ID:
			return "its graphs are not in order"
		case g.Stored != nil && len(g.Stored.Contract) == 0:
			return "its graph " + g.ID + " has queries without a contract"
		case g.Proposed != nil && len(g.Proposed.Contract) == 0:
			return "its graph " + g.ID + " has proposed queries without a contract"
		}
	}
	if want := r.digest(); r.Config != want {
		return "its content has digest " + want + ", but it gives " + r.Config
	}
	return ""
}

// digest returns the value of the field Config. The graphs are sorted by id.
func (r *Revision) digest() string {
	var b strings.Builder
	for _, g := range r.Graphs {
		fmt.Fprintf(&b, "%s %s %s", g.ID, g.Schema, digest([]byte(g.Source)))
		if g.Stored != nil {
			b.WriteString(" " + g.Stored.digest())
		}
		if g.Policy != nil {
			b.WriteString(" policy " + g.Policy.digest())
		}
		if g.Proposed != nil {
			b.WriteString(" proposed " + g.Proposed.digest())
		}
		if g.Limits != nil {
			b.WriteString(" limits " + limitsDigest(g.Limits))
		}
		b.WriteByte('\n')
	}
	if r.Policy != nil {
		b.WriteString("policy " + r.Policy.digest() + "\n")
	}
	if r.Limits != nil {
		b.WriteString("limits " + limitsDigest(r.Limits) + "\n")
	}
	if r.Settings != "" {
		b.WriteString("settings " + r.Settings + "\n")
	}
	return digest([]byte(b.String()))
}

// digest returns the digest of both fields.
func (p *Policy) digest() string { return digest([]byte(p.File + "\x00" + p.Text)) }

// equal reports whether two policies, which may be nil, are the same.
func (p *Policy) equal(o *Policy) bool {
	return p == nil && o == nil || p != nil && o != nil && *p == *o
}

// digest returns the SHA-256 of b as sha256: and hexadecimal digits.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// next returns the revision to record for the sources, or nil if the recorded revision already has
// the same content.
func next(recorded *Revision, s *Sources) *Revision {
	r := &Revision{Number: 1, Graphs: []Graph{}, Policy: s.Policy, Settings: s.Settings, Limits: s.Limits}
	for _, g := range s.Graphs {
		r.Graphs = append(r.Graphs, Graph{ID: g.ID, Schema: g.Digest, Source: g.Text, Stored: g.Stored, Policy: g.Policy, Limits: g.Limits, Proposed: g.Proposed})
	}
	slices.SortFunc(r.Graphs, func(a, b Graph) int { return strings.Compare(a.ID, b.ID) })
	r.Config = r.digest()
	switch {
	case recorded == nil:
		return r
	case recorded.Config == r.Config:
		return nil
	}
	r.Number = recorded.Number + 1
	return r
}
