package embedded

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/fs"
)

// mapHook is a file system that calls a function before it maps a file.
type mapHook struct {
	fs.FS
	before func()
}

func (h mapHook) Map(name string) (*fs.Mapping, error) {
	h.before()
	return h.FS.Map(name)
}

// TestViewDuringCheckpoint lets the writer replace the rows and make checkpoints while a View is being
// opened: first once, and then each time that the View reads the folder again. In the first case the View
// must have the new state, because files of the old one are gone. In the second case it must give up with an
// error that says so.
func TestViewDuringCheckpoint(t *testing.T) {
	ctx := t.Context()
	fsys := fs.NewMem()
	g := create(t, fsys, crashOptions)
	replace := func() {
		for range 2 { // the second checkpoint removes the files of the first one
			if err := errors.Join(loadText(g, engine.Overwrite, manyPeople(g.history.Len()*100, 40)), checkpoint.do(g)); err != nil {
				t.Error(err)
			}
		}
	}
	replace()
	times := 0
	v, err := ViewDir(ctx, mapHook{fsys, func() {
		if times++; times == 1 {
			replace()
		}
	}}, dir, crashOptions)
	if err != nil {
		t.Fatal(err)
	}
	want := dumpAll(g)
	if got := dumpAll(v.graph); got != want {
		t.Errorf("the view has\n%s\nwant\n%s", got, want)
	}
	replace() // the View must stay readable
	if got := dumpAll(v.graph); got != want {
		t.Errorf("after further checkpoints the view has\n%s\nwant\n%s", got, want)
	}
	if err := errors.Join(v.Graph().Verify(ctx), v.Close()); err != nil {
		t.Error(err)
	}
	var unavailable *engine.Unavailable
	if _, err = ViewDir(ctx, mapHook{fsys, replace}, dir, crashOptions); !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "changed each time") {
		t.Errorf("while each attempt is disturbed: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := ViewDir(ended, fsys, dir, crashOptions); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

// TestViewRefusesWrites calls the methods that write. Each must fail and change nothing.
func TestViewRefusesWrites(t *testing.T) {
	fsys := fs.NewMem()
	g := create(t, fsys, crashOptions)
	if err := loadText(g, engine.Merge, manyPeople(0, 40)); err != nil {
		t.Fatal(err)
	}
	v := viewDir(t, fsys)
	want := dumpAll(v.graph)
	var refused *engine.Unavailable
	for name, d := range map[string]deed{
		"insert": insert("", "ann", 1), "load": loading("", engine.Merge, manyPeople(50, 40)), "branch": forking("side", ""),
		"proposal": putProposal("main", func(p *engine.Proposal) { p.Target = "main" }),
	} {
		if err := d.do(v.graph); err == nil || !errors.As(err, &refused) && name != "proposal" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := dumpAll(v.graph); got != want {
		t.Errorf("the view has\n%s\nwant\n%s", got, want)
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}
}
