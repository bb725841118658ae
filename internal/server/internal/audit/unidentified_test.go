package audit

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/audittrail"
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
