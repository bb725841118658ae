package logrecord

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/engine"
)

func TestBranchingRoundTrip(t *testing.T) {
	for _, b := range []Branching{
		{Name: "a/b", From: "main", Commit: "01ARZ3NDEKTSV4RRFFQ6000001", Time: time.UnixMicro(7).UTC()},
		{Name: "x", Commit: "01ARZ3NDEKTSV4RRFFQ6000002", Time: time.UnixMicro(8).UTC()},
		{Delete: true, Name: "a/b", Time: time.UnixMicro(9).UTC()},
	} {
		got, err := ReadBranching(b.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&b, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// receipt is a receipt with all fields.
var receiptSample = Receipt{Key: "k", Body: [32]byte{1, 31: 2}, Outcome: engine.Merged, Nodes: 3, Edges: 1 << 40,
	NodeIns: []engine.TypeCount{{Type: "Pair", Count: 3}}, EdgeIns: []engine.TypeCount{{Type: "Joins", Count: 4}}, Schema: []byte("catalog")}

func TestHeaderRoundTrip(t *testing.T) {
	c := Commit{Commit: engine.Commit{ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Branch: "main", Time: time.UnixMicro(1_700_000_000_123_456).UTC()}, Number: 9}
	c.Tool, c.Source, c.Proposal, c.Approvers = "add_note", "crm", "01ARZ3NDEKTSV4RRFFQ69G5FAX", []string{"eva", "finn"}
	c.Message = "why\nnot"
	c.Schema, c.Actor, c.Seq, c.Parents = "", "ann", 77, []string{c.ID, "01ARZ3NDEKTSV4RRFFQ69G5FAW"}
	got, gotReceipt, rest, err := Header(append(AppendHeader(nil, c, &receiptSample), "rest"...))
	if err != nil || string(rest) != "rest" {
		t.Fatalf("rest %q, error %v", rest, err)
	}
	if diff := cmp.Diff(&receiptSample, gotReceipt); diff != "" {
		t.Errorf("receipt (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(c, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
