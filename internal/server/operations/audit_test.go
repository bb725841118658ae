package operations_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// full is a bucket that takes no new objects once it is on.
type full struct {
	object.Bucket
	on atomic.Bool
}

func (f *full) Create(ctx context.Context, name string, data []byte) error {
	if f.on.Load() {
		return object.ErrBusy
	}
	return f.Bucket.Create(ctx, name, data)
}

// TestReadAuditFull reads the trail while its storage takes no records.
func TestReadAuditFull(t *testing.T) {
	b := &full{Bucket: &object.Memory{}}
	trail, err := audittrail.Open(t.Context(), audittrail.NewStore(b, ""), audittrail.Options{Server: "one", Keep: audittrail.DefaultKeep, Quota: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = trail.Close(context.Background()) })
	trail.Add(&audittrail.Call{Time: time.Unix(1, 0), Graph: "g", Tool: "stored"})
	if err := trail.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.on.Store(true)
	trail.Add(&audittrail.Call{Time: time.Unix(2, 0), Graph: "g", Tool: "waits"})
	out, err := (&operations.ReadAudit{Trail: trail}).Run(t.Context(), &tool.Env{GraphID: "g"})
	if err != nil {
		t.Fatal(err)
	}
	if a := out.Value.(*client.AuditAnswer); len(a.Records) != 1 || a.Records[0].Tool != "stored" {
		t.Errorf("the answer is %+v, want the record that is stored", a)
	}
}

// TestLastSummary counts the calls twice within a moment.
func TestLastSummary(t *testing.T) {
	trail, err := audittrail.Open(t.Context(), audittrail.NewStore(&object.Memory{}, ""), audittrail.Options{Server: "one", Keep: audittrail.DefaultKeep, Quota: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = trail.Close(context.Background()) })
	c := &operations.SummarizeAudit{Trail: trail, Last: operations.NewLastSummary()}
	var made []any
	for range 2 {
		out, err := c.Run(t.Context(), &tool.Env{GraphID: "g"})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, out.Value)
	}
	if made[0] != made[1] {
		t.Error("the second summary was made anew")
	}
}
