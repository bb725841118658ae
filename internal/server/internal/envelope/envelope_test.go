package envelope_test

import (
	"net/http/httptest"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// TestStatus checks the status of each outcome. Clients act on it, so a change breaks them.
func TestStatus(t *testing.T) {
	want := map[wireerror.Outcome]int{
		wireerror.OfRequest: 400, wireerror.NotIdentified: 401, wireerror.OfPolicy: 403, wireerror.Missing: 404, wireerror.WrongMethod: 405,
		wireerror.Conflicted: 409, wireerror.Reclaimed: 410, wireerror.Precondition: 412, wireerror.TooLarge: 413, wireerror.WrongMedia: 415, wireerror.OutsideRange: 416,
		wireerror.Overloaded: 429, wireerror.Failed: 500,
		wireerror.TimedOut: 503, wireerror.GivenUp: 503, wireerror.Canceled: 503, wireerror.Unavailable: 503,
	}
	for o, status := range want {
		if got := envelope.Status(o); got != status {
			t.Errorf("the status of %s is %d, expected %d", o, got, status)
		}
	}
	for _, o := range wireerror.Outcomes {
		if _, ok := want[o]; !ok && o != wireerror.Done {
			t.Errorf("the test has no status for %s", o)
		}
	}
}

func TestWrite(t *testing.T) {
	for _, tt := range []struct {
		fault      *wireerror.Fault
		status     int
		retryAfter string
	}{
		{envelope.New(wireerror.Overloaded, client.CodeTooManyRequests, "too many"), 429, "1"},
		{&wireerror.Fault{Outcome: wireerror.Unavailable, RetryAfter: 3, Body: client.Envelope{Message: "busy", Code: client.CodeInternal}}, 503, "3"},
		{envelope.New(wireerror.Precondition, "", "moved"), 412, ""},
	} {
		w := httptest.NewRecorder()
		envelope.Write(w, tt.fault)
		if w.Code != tt.status || w.Header().Get("Retry-After") != tt.retryAfter || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: status %d, header %v", tt.fault.Body.Message, w.Code, w.Header())
		}
		want := `{"error":"` + tt.fault.Body.Message + `"`
		if tt.fault.Body.Code != "" {
			want += `,"code":"` + string(tt.fault.Body.Code) + `"`
		}
		if got := w.Body.String(); got != want+"}" {
			t.Errorf("got %s, expected %s}", got, want)
		}
	}
}
