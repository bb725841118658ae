package rest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// modes are the names of the load modes; the first is the default.
var modes = []string{engine.Merge.String(), engine.Patch.String(), engine.Append.String(), engine.Overwrite.String(), engine.Sync.String()}

// loadLines loads a body of NDJSON while it receives the body.
func (x *exchange) loadLines() error {
	if x.query.Has("upload") {
		return x.loadUpload()
	}
	if err := wantContent(x.r, mediaNDJSON); err != nil {
		return err
	}
	most := cmp.Or(x.g.LoadBytes(), math.MaxInt64)
	if x.r.ContentLength > most {
		return tooLarge(most)
	}
	body := &errorKeeper{r: http.MaxBytesReader(x.w, x.r.Body, most)}
	answer, err := x.loadFrom(body)
	switch {
	case err != nil && body.err != nil && x.here() == nil:
		return unreadableStream(body.err)
	case err != nil:
		return err
	}
	x.send(answer)
	return nil
}

// loadFrom loads NDJSON as the parameters of the request say.
func (x *exchange) loadFrom(data io.Reader) (*encoding.Answer, error) {
	load := x.load(data, &client.LoadBody{Branch: string(x.branch()), Mode: x.query.Get("mode"),
		NewEdges: x.query.Get("new_edges") == "true", LastWins: x.query.Get("last_wins") == "true", DryRun: x.query.Get("dry_run") == "true",
		Source: x.query.Get("source"), Types: names(x.query.Get("types")), Yield: names(x.query.Get("yield")),
		Cascade: x.query.Get("cascade") == "true", ApproveDeletes: int32(min(x.number("approve_deletes", 0), math.MaxInt32))})
	if followed := x.query.Get("followed"); followed != "" {
		load.Changes = &engine.SourceChanges{Source: followed, After: x.query.Get("after"), Position: x.query.Get("position")}
	}
	call, err := loadInto(load, tool.BranchName(x.query.Get("from")))
	if err != nil {
		return nil, err
	}
	return x.do(call, encoding.Options{})
}

// loadUpload loads an upload of the caller. The upload stays, so that the client can repeat the load if it gets no answer.
func (x *exchange) loadUpload() error {
	if x.r.ContentLength != 0 {
		return x.bad("the request has a body and names an upload, expected only one of them")
	}
	s, err := x.store()
	if err != nil {
		return err
	}
	u, err := s.Find(x.ctx(), x.query.Get("upload"), x.owner("").Actor)
	if err != nil {
		return err
	}
	if u.Branch != string(x.branch()) {
		return &tool.ArgumentError{Path: "branch", Detail: fmt.Sprintf("found %q, but the upload is for %q", short(string(x.branch())), short(u.Branch)), Help: "load it into the branch for which it was opened"}
	}
	data, err := s.Reader(x.ctx(), u)
	if err != nil {
		return err
	}
	defer data.Close()
	answer, err := x.loadFrom(data)
	if err != nil {
		return err
	}
	x.send(answer)
	return nil
}

// loadText loads NDJSON that is a member of the JSON body.
func (x *exchange) loadText() error {
	b, load, err := x.loadBody()
	if err != nil {
		return err
	}
	call, err := loadInto(load, tool.BranchName(b.From))
	if err != nil {
		return err
	}
	return x.answerLoad(call)
}

// ingest is like loadText with one difference: if the branch does not exist and the body does not
// say where to start it, ingest creates it from main.
func (x *exchange) ingest() error {
	b, load, err := x.loadBody()
	if err != nil {
		return err
	}
	from := tool.BranchName(b.From)
	if load.Branch != "" {
		from = from.OrMain()
	}
	call, err := loadInto(load, from)
	if err != nil {
		return err
	}
	return x.answerLoad(call)
}

// loadBody reads a body of up to MaxLoad bytes. A caller who may load on none of the known
// branches gets the smaller limit MaxBody. loadBody must not refuse that caller at once: a
// policy may allow branches that do not exist yet, and only the body names the branch.
func (x *exchange) loadBody() (*client.LoadBody, *operations.Load, error) {
	ok, err := x.g.AllowedSomewhere(x.ctx(), x.actor(), tool.Grant{Action: tool.Change, Via: tool.AdHoc})
	if err != nil {
		return nil, nil, err
	}
	if ok {
		if err := access.CheckScopes(x.actor(), []tool.Grant{{Action: tool.Change}}); err != nil {
			return nil, nil, err
		}
	}
	most := x.opts.MaxLoad
	if !ok {
		most = min(most, x.opts.MaxBody)
	}
	o, err := x.object(most)
	var refused *httpError
	switch {
	case !ok && errors.As(err, &refused) && refused.fault.Outcome == wireerror.TooLarge:
		return nil, nil, &wireerror.Forbidden{Action: tool.Change} // the branch is in the unread body
	case err != nil:
		return nil, nil, err
	}
	var b client.LoadBody
	readMembers(o, &b)
	if err := o.Done(); err != nil {
		return nil, nil, err
	}
	return &b, x.load(strings.NewReader(b.Data), &b), nil
}

// load returns the call that loads the data as a body says. The body's own data are not used.
func (x *exchange) load(data io.Reader, b *client.LoadBody) *operations.Load {
	m, _ := engine.ParseLoadMode(b.Mode)
	load := &operations.Load{Data: data, Mode: m, NewEdges: b.NewEdges, LastWins: b.LastWins, Branch: tool.BranchName(b.Branch), Options: x.runOptions()}
	load.Options.DryRun = b.DryRun
	load.Sync = engine.SyncOptions{Source: b.Source, Types: b.Types, Yield: b.Yield, Cascade: b.Cascade, ApproveDeletes: int64(b.ApproveDeletes)}
	return load
}

// names splits a list of names with commas.
func names(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// loadInto returns a call that loads into a branch. If the branch does not exist, the call first
// creates it from the branch `from`. If `from` is empty, loadInto returns `load` itself.
func loadInto(load *operations.Load, from tool.BranchName) (tool.Call, error) {
	switch {
	case from == "":
		return load, nil
	case load.Branch == "":
		return nil, &tool.ArgumentError{Path: "from", Detail: "found a branch to start from, but no branch to create", Help: "set branch to the name of the branch to create"}
	}
	return &operations.LoadFrom{Load: load, From: from}, nil
}

// answerLoad answers with the result of a load and the URI of the graph.
func (x *exchange) answerLoad(load tool.Call) error {
	answer, err := x.do(load, encoding.Options{})
	if err != nil {
		return err
	}
	a := client.TextLoadAnswer{URI: x.uri()}
	if err := json.Unmarshal(answer.JSON, &a.LoadAnswer); err != nil {
		return err
	}
	return x.reply(&a)
}
