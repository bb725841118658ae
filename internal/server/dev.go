package server

import (
	"encoding/json"
	"net/http"
	"os"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
)

// DevFaultsVar is the environment variable in which gq dev names the file of [Dev.Write] to the server that it starts.
const DevFaultsVar = "OMNIGRAPH_DEV_FAULTS"

// Dev is what a server knows of the gq dev that started it. It is the handler of studio.FaultsPath.
type Dev struct {
	Faults string // the file in which gq dev keeps the faults of the last save; missing before the first one
	Actor  string // the only actor that gets the faults, because they quote the sources of all graphs
}

// DevFault is a reason why the last save was not applied. Without a place, File is empty and Line and Column are 0.
type DevFault struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Help    string `json:"help,omitempty"`
}

// devFaults is the body of an answer, and the content of the file.
type devFaults struct {
	Faults []DevFault `json:"faults"`
}

// Write replaces the faults of the last save; an applied save has none.
func (d *Dev) Write(faults []DevFault) error {
	b, err := json.Marshal(devFaults{append([]DevFault{}, faults...)})
	if err != nil {
		return err
	}
	if err := os.WriteFile(d.Faults+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(d.Faults+".new", d.Faults)
}

// ServeHTTP sends the faults of the last save.
func (d *Dev) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	faults, err := os.ReadFile(d.Faults)
	if actor := access.ActorFrom(r.Context()); err != nil || actor == nil || actor.Name() != d.Actor {
		faults = []byte(`{"faults":[]}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(faults) // an error means that the client has gone away
}
