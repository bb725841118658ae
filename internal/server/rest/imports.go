package rest

import (
	"net/http"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/tableimport"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// importRoutes are the routes that read an upload as a table.
var importRoutes = []Route{
	{
		Method: http.MethodPost, Path: "/graphs/{id}/uploads/{upload}/infer", Operation: "infer_import", Tag: tagData,
		Summary: "Propose a map for an uploaded table: CSV or TSV.",
		Description: "The server reads the whole table, but of the graph only the schema that the caller may see. The answer is 413 for more than 1,000 columns or 10,000,000 values. " +
			"If a record cannot be read, line_faults has its line. The answer may take long; records_read of the upload tells meanwhile how far the server is.",
		Body: client.InferBody{}, BodyRequired: true, Answer: client.ImportProposal{}, Statuses: []int{http.StatusConflict},
		Action: tool.Read, AtWriter: true, Long: true, handle: (*exchange).inferImport,
		example: example{params: map[string]string{"upload": exampleUpload}, body: `{"file_name": "packages.csv"}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/uploads/{upload}/import", Operation: "import_upload", Tag: tagData,
		Summary: "Import an uploaded table as a map says, as one commit or not at all.",
		Description: "The import is a load of the nodes and edges that the map makes of the table, with its rights and limits; it also needs read on the branch, because its faults tell names of the schema. " +
			"line_faults has the line of the table and the column as field. The ends of edges are found by the key or the id. The answer may take long; records_read of the upload tells meanwhile how far the server is.",
		Params: writing, Body: client.ImportBody{}, BodyRequired: true, Answer: client.LoadAnswer{},
		Action: tool.Change, ExtraActions: []tool.Action{tool.Read}, Writes: true, Long: true, handle: (*exchange).importUpload,
		example: example{params: map[string]string{"upload": exampleUpload}, body: `{"file_name": "packages.csv", "map": "{\"sources\": {\"packages.csv\": {\"node\": \"Package\", \"set\": {\"path\": \"path\"}}}}", "branch": "trial", "dry_run": true}`},
	},
}

// table returns the file of the upload that the path names, under the name that the client gives it.
func (x *exchange) table(name string) (*tableimport.File, error) {
	s, u, err := x.upload()
	if err != nil {
		return nil, err
	}
	path, err := s.Path(x.ctx(), u)
	return &tableimport.File{Path: path, Name: name}, err
}

// inferImport proposes a map for an upload.
func (x *exchange) inferImport() error {
	var b client.InferBody
	o, err := x.body(&b)
	if err != nil {
		return err
	}
	if err := o.Done(); err != nil {
		return err
	}
	f, err := x.table(b.FileName)
	if err != nil {
		return err
	}
	defer f.Reading()()
	return x.answer(&operations.InferImport{File: f, Branch: tool.BranchName(b.Branch)}, encoding.Options{})
}

// importUpload imports an upload. The upload stays, so that the client can try again. It may be for another branch, because it decided only who
// may occupy storage.
func (x *exchange) importUpload() error {
	var b client.ImportBody
	o, err := x.body(&b)
	if err != nil {
		return err
	}
	if err := o.Done(); err != nil {
		return err
	}
	f, err := x.table(b.FileName)
	if err != nil {
		return err
	}
	defer f.Reading()()
	mode, _ := engine.ParseLoadMode(b.Mode)
	load := &operations.Load{Mode: mode, NewEdges: b.NewEdges, Branch: tool.BranchName(b.Branch), Options: x.runOptions()}
	load.Options.DryRun = b.DryRun
	return x.answer(&operations.Import{Load: load, File: f, Map: b.Map, Most: x.g.LoadBytes()}, encoding.Options{})
}
