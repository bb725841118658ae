package operations

import (
	"context"
	"errors"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// textLimits bounds the parts of a text. It admits a query of 1 MiB with four bytes per
// token.
var textLimits = work.Limits{Tokens: 1 << 18, Queries: 1000, Head: 1 << 14}

// Compile compiles the queries of a text that was sent as an argument. The error is an
// *engine.TooLarge, an *engine.Busy or, if ctx ends, the error of ctx.
func Compile(ctx context.Context, env *tool.Env, argument string, s *catalog.Schema, text string) (queries []*gq.Query, faults diag.List, err error) {
	err = WithText(ctx, env, argument, text, func(limits work.Limits) (err error) {
		queries, faults, err = gq.Options{Claims: env.Claims}.CompileQueriesWithin(ctx, limits, s, gq.Source{Name: sourceName, Text: text})
		return err
	})
	return queries, faults, err
}

// WithText admits a text that was sent as an argument and then runs f, which compiles the text. The
// error is an *engine.TooLarge, an *engine.Busy, or the error of f.
func WithText(ctx context.Context, env *tool.Env, argument, text string, f func(work.Limits) error) error {
	done, err := env.Text(ctx, argument, text)
	if err != nil {
		return err
	}
	defer done()
	err = f(textLimits)
	var many *work.TooMany
	if errors.As(err, &many) {
		return &engine.TooLarge{Resource: fmt.Sprintf("%s of %s", many.What, argument), Limit: int64(many.Limit), Actual: int64(many.Actual)}
	}
	return err
}
