package parquet

import (
	"encoding/json"
	"io"
)

// ManifestName is the name of the manifest in the folder of an export.
const ManifestName = "manifest.json"

// FormatVersion is the number of the layout that this program writes: the folders, the names of the
// files, and the members of the manifest. If a reader of the earlier layout would misunderstand a
// change, the change needs the next number. A new member needs none.
const FormatVersion = 1

// Manifest describes an export. It is the last file of an export.
type Manifest struct {
	FormatVersion int            `json:"format_version"` // see FormatVersion
	Commit        ManifestCommit `json:"commit"`         // the files hold the entities of this commit
	SchemaDigest  string         `json:"schema_digest"`  // of the whole schema at the commit: "sha256:" and hex digits
	Types         []ManifestType `json:"types"`          // the exported types in schema order, nodes before edges
}

// ManifestCommit identifies a commit. Its JSON members have the same names as those of a commit in
// a server's responses.
type ManifestCommit struct {
	GraphCommitID string `json:"graph_commit_id"` // the id
	CreatedAt     int64  `json:"created_at"`      // in Unix microseconds
}

// ManifestType describes the files of a node or edge type.
type ManifestType struct {
	EntityKind string   `json:"entity_kind"`         // node or edge
	TypeName   string   `json:"type_name"`           // as in the schema
	Folder     string   `json:"folder"`              // holds the files, and nothing else
	Key        []string `json:"key,omitempty"`       // the columns of a node's @key; absent without one
	FromType   string   `json:"from_type,omitempty"` // the node type of the ids in the column "from"; only of edges without FromInterface
	ToType     string   `json:"to_type,omitempty"`   // the node type of the ids in the column "to"; only of edges without ToInterface
	// FromInterface and ToInterface describe the interfaces at the ends of edges. They are absent for other ends.
	FromInterface *ManifestInterface `json:"from_interface,omitempty"`
	ToInterface   *ManifestInterface `json:"to_interface,omitempty"`
	Columns       []ManifestColumn   `json:"columns"`   // in the order of the files
	RowCount      int64              `json:"row_count"` // the sum over the files
	Files         []ManifestFile     `json:"files"`     // at least one, in id order
}

// ManifestInterface describes an interface at an end of the edges of a type.
type ManifestInterface struct {
	Name       string   `json:"name"`        // of the interface
	NodeTypes  []string `json:"node_types"`  // the types that a node at this end may have, in schema order
	TypeColumn string   `json:"type_column"` // the column with the types of the nodes: from_type or to_type, or from_type.2 or to_type.2 if a property has the first name
}

// ManifestColumn describes a column of a type.
type ManifestColumn struct {
	Name      string `json:"name"`       // as in the files
	Type      string `json:"type"`       // as the schema writes it, such as String? or Vector(64)
	Nullable  bool   `json:"nullable"`   // the column may contain nulls
	ArrowType string `json:"arrow_type"` // the Arrow type that the files store for it, such as utf8
}

// ManifestFile describes a Parquet file.
type ManifestFile struct {
	Path      string `json:"path"`       // below the folder of the export, separated by slashes
	RowCount  int64  `json:"row_count"`  // number of entities
	SizeBytes int64  `json:"size_bytes"` // of the whole file, in bytes
	SHA256    string `json:"sha256"`     // of the whole file, as hex digits
}

// write writes the manifest as a file of the export.
func (m *Manifest) write(create Create) error {
	file, err := create(ManifestName)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(io.Writer(file))
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(m)
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	return err
}
