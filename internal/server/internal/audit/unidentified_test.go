package audit

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestUnidentified floods a trail with requests without a token. The records count each of them, and there are few.
func TestUnidentified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trail, err := audittrail.Open(context.Background(), audittrail.NewStore(&object.Memory{}, ""), audittrail.Options{Server: "one", Keep: audittrail.DefaultKeep, Quota: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		u := NewUnidentified(trail)
		for range 3 {
			for range 1000 {
				u.Refused("people", "first")
			}
			time.Sleep(unidentifiedTime + time.Second)
		}
		time.Sleep(time.Minute)
		u.Refused("people", "later")
		u.Refused("people", "at the end")
		u.Refused("", "elsewhere")
		u.Close()
		u.Refused("people", "too late")
		if err := trail.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		found, _, err := trail.Query(context.Background(), audittrail.Filter{Graph: "people", Decision: audittrail.Denied, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		requests := 0
		for _, r := range found {
			if requests += r.Rows; r.Outcome != "unauthorized" || r.Request == "" || r.Actor != "" {
				t.Errorf("the record is %+v", r)
			}
		}
		if requests != 3002 || len(found) > 7 {
			t.Errorf("%d records count %d requests", len(found), requests)
		}
	})
}

// TestUnidentifiedFull floods a full trail, which refuses calls: the requests make no record until old records are removed, and then one counts
// them all.
func TestUnidentifiedFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trail, err := audittrail.Open(t.Context(), audittrail.NewStore(&object.Memory{}, ""), audittrail.Options{Server: "one", Keep: time.Hour, Quota: 2000, Refuse: true})
		if err != nil {
			t.Fatal(err)
		}
		for !trail.Full() {
			trail.Add(&audittrail.Call{Time: clock.Now(), Graph: "people", Tool: "get", Outcome: "ok"})
			if err := trail.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		before := trail.Stats().Records
		u := NewUnidentified(trail)
		for range 30 {
			for range 100 {
				u.Refused("people", "a request")
			}
			time.Sleep(unidentifiedTime)
		}
		if got := trail.Stats().Records; got != before {
			t.Errorf("the requests made %d records in a full trail", got-before)
		}
		time.Sleep(3 * time.Hour)
		if trail.Full() {
			t.Fatal("the trail is full after the time to keep")
		}
		u.Close()
		if err := trail.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		found, _, err := trail.Query(t.Context(), audittrail.Filter{Decision: audittrail.Denied, Limit: 100})
		if err != nil || len(found) != 1 || found[0].Rows != 3000 {
			t.Errorf("the records are %+v, %v; want one of 3000 requests", found, err)
		}
	})
}
