package enginetest

import (
	"context"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/naive"
)

// FuzzLoad loads arbitrary text into an engine and into the model, both empty or both with a few
// people. It compares the outcomes and the contents of the graphs after the load.
func FuzzLoad(f *testing.F, open Opener) {
	for _, mode := range []engine.LoadMode{engine.Merge, engine.Append, engine.Overwrite} {
		for _, text := range []string{crowd, everyMember, strings.Repeat(`{"type":"Town"}`+"\n", 3), "\n\n{}"} {
			f.Add(uint8(mode), false, text)
			f.Add(uint8(mode), true, text)
		}
	}
	f.Fuzz(func(t *testing.T, mode uint8, holding bool, text string) {
		if len(text) > 1<<12 || hasUnnamed(text) {
			return
		}
		schema := people()
		p := &pair{ctx: context.Background(), schema: schema, engine: open(t, sourceText, schema),
			model: naive.New(sourceText, schema, naive.Sound)}
		defer func() {
			if err := p.close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}()
		steps := []step{{load: text, mode: engine.LoadMode(mode % 3)}}
		if holding {
			steps = append([]step{{load: crowd}}, steps...)
		}
		for _, s := range steps {
			if difference := p.run(s); difference != "" {
				t.Fatalf("the engine and the model differ:\n%s\n%s", difference, s)
			}
		}
	})
}

// hasUnnamed reports whether a text may contain an entity without an id: an edge or a City. The
// engine chooses the id of such an entity, and the model cannot predict it.
func hasUnnamed(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != "" && !strings.Contains(line, `"id"`) && !strings.Contains(line, `"Person"`) {
			return true
		}
	}
	return false
}

// everyMember is a load with a value for every property, and with every spelling of a value.
const everyMember = `{"type":"Person","data":{"id":"fay","name":"fay","age":-0,"big":"-9223372036854775808","small":0,"wide":"0","ratio":1e-3,"score":-1.5E2,"active":false,"born":-719162,"seen":"2024-05-01T14:30:00.123000+02:00","mood":"calm","tags":[],"lucky":[1,-2],"about":"\u00e9\ud83d\ude00","photo":"base64:AAE="}}
{"type":"City","data":{"id":"c1","name":"","place":[1,2.5]}}
{"edge":"knows","from":"fay","to":"fay","data":{"id":"k","since":1,"how":null}}`
