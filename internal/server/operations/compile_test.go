package operations

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestCompileEnds checks that a call stops compiling at its deadline and reports it.
func TestCompileEnds(t *testing.T) {
	s, faults := gq.CompileSchema(gq.Source{Name: "x.pg", Text: check.ExampleSchema})
	if faults != nil {
		t.Fatal(faults)
	}
	text := "query q() { match { $p: Person " + strings.Repeat("$p.age = 1 ", 40_000) + "} return { $p } }"
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	start := clock.Now()
	_, _, err := Compile(ctx, &tool.Env{Server: tool.Alone{}}, "query", s, text)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after %v: %v", clock.Since(start), err)
	}
	// If a text has too many parts, the error names the argument.
	_, _, err = Compile(t.Context(), &tool.Env{Server: tool.Alone{}}, "the_text", s, strings.Repeat("query q() {} ", textLimits.Queries+1))
	if want := fmt.Sprintf("queries of the_text: %d is more than the limit of %d", textLimits.Queries+1, textLimits.Queries); err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
}
