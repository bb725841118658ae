package version

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/textindex"
)

// textFiles stores parts of text indexes in memory. Store fails after it has stored `failAfter`
// parts.
func textFiles(files memory, failAfter int, discarded *[]string) *TextFiles {
	return &TextFiles{PartBytes: 20, Discard: func(names []string) { *discarded = append(*discarded, names...) },
		Store: func(write func(to textindex.File) error) (textindex.Part, error) {
			if len(files) == failAfter {
				return textindex.Part{}, errFull
			}
			name := fmt.Sprint("text", len(files))
			files[name] = map[string][]byte{}
			err := write(memoryFile(files[name]))
			return textindex.Part{Name: name, Source: source{name, files[name]}}, err
		}}
}

// memoryFile holds the blocks of a segment by name.
type memoryFile map[string][]byte

func (f memoryFile) AddBlock(name string, data []byte) error {
	f[name] = append([]byte{}, data...)
	return nil
}

func (f memoryFile) AddStream(name string, pieces func(put func(data []byte) error) error) error {
	f[name] = []byte{}
	return pieces(func(data []byte) error {
		f[name] = append(f[name], data...)
		return nil
	})
}

var errFull = errors.New("the disk is full")

// texts returns a state with n entities that have texts.
func texts(t *testing.T, n int) *Snapshot {
	t.Helper()
	s := testSchema(t)
	tx := Begin(NewSnapshot(s, engine.Commit{}))
	for i := range n {
		tx.Put(s.Nodes[1], Row{ID: fmt.Sprintf("any%03d", i), Vals: anyRow(i)})
	}
	return tx.Commit(first)
}

// TestTextsInherited builds a text index for a state while the next state begins. The next state must
// take over the index.
func TestTextsInherited(t *testing.T) {
	s := texts(t, 50)
	table := s.Nodes(1)
	if !table.PlanTexts(1) {
		t.Fatal("the table lacks no text index")
	}
	tx := Begin(s)
	tx.Put(s.Schema.Nodes[1], Row{ID: "late", Vals: anyRow(77)})
	later := tx.Commit(first).Nodes(1)
	files := memory{}
	var discarded []string
	if err := table.BuildTexts(t.Context(), 1, textFiles(files, -1, &discarded)); err != nil || len(files) < 5 || len(discarded) > 0 {
		t.Fatalf("%d parts, discarded %v, error %v", len(files), discarded, err)
	}
	if later.LacksTexts(1) {
		t.Error("the next state lacks the text index")
	}
	view := later.Text(0)
	if n := view.Documents(); n != 51 || len(view.Parts()) != len(files)+1 {
		t.Errorf("the next state has %d texts in %d parts", n, len(view.Parts()))
	}
	if _, err := view.Verify(later.textSource(0)); err != nil {
		t.Error(err)
	}
	if unstored := later.unstoredTexts(); len(unstored) != 1 {
		t.Errorf("%d parts of the next state are not stored", len(unstored))
	}
}

// TestTextsThatFail builds text indexes in three cases: the files cannot be written, the context
// has ended, or the texts cannot be read. The build must leave no file behind. Damaged texts must
// not be read again.
func TestTextsThatFail(t *testing.T) {
	s := texts(t, 50)
	table := s.Nodes(1)
	var discarded []string
	if err := table.BuildTexts(t.Context(), 1, textFiles(memory{}, 3, &discarded)); err != errFull || len(discarded) != 3 {
		t.Errorf("on a full disk: error %v, discarded %v", err, discarded)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := table.BuildTexts(ctx, 1, textFiles(memory{}, -1, &discarded)); err != context.Canceled {
		t.Errorf("a build that is cancelled: error %v", err)
	}
	if !table.LacksTexts(1) {
		t.Error("after failed builds no build is needed")
	}
	f, _, err := table.Flush()
	if err != nil {
		t.Fatal(err)
	}
	if f.Segment.Props[0], _, err = column.Decode(f.Segment.Props[0].AppendDescriptor(nil), "p", damagedSource{}); err != nil {
		t.Fatal(err)
	}
	damaged, err := f.table(nil)
	if err != nil {
		t.Fatal(err)
	}
	files := memory{}
	if err := damaged.BuildTexts(t.Context(), 1, textFiles(files, -1, &discarded)); err != nil || len(files) > 0 {
		t.Errorf("of damaged texts: %d parts, error %v", len(files), err)
	}
	later := damaged.texts.next()
	if damaged.LacksTexts(1) || !later.isDamaged(0) {
		t.Error("the damaged texts would be read again")
	}
	if parts := damaged.unstoredTexts(); len(parts) > 0 {
		t.Errorf("%d parts are to be stored", len(parts))
	}
	search := func() (err error) {
		defer corruption.Catch(corruption.Watch(), &err)
		damaged.Text(0)
		return nil
	}
	if err := search(); err != errDamaged {
		t.Errorf("a search in damaged texts: error %v", err)
	}
}
