package postgres

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestMeaning checks which error of package object each answer of a server becomes.
func TestMeaning(t *testing.T) {
	for code, want := range map[string]error{
		"57P03": object.ErrBusy,    // the server is starting
		"53300": object.ErrBusy,    // too many connections
		"40001": object.ErrBusy,    // rolled back
		"40003": object.ErrUnknown, // the server does not know whether it has committed
		"57P01": object.ErrUnknown, // the server stops
		"58030": object.ErrUnknown, // input/output error
		"08006": object.ErrUnknown, // broken connection
		"42501": nil,               // permission denied
		"5":     nil,               // not a code
		"":      nil,
	} {
		if got := meaning(&pgconn.PgError{Code: code}); got != want {
			t.Errorf("code %q means %v, want %v", code, got, want)
		}
	}
	if got := meaning(errors.New("broken pipe")); got != object.ErrUnknown {
		t.Errorf("a lost connection means %v, want %v", got, object.ErrUnknown)
	}
}
