// Package observe is what operators see of a server: its log, its metrics and its traces.
package observe

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"

	"github.com/omnigraph-go/omnigraph/server/request"
)

// Formats and Levels are what [NewLogger] takes.
var (
	Formats = []string{"text", "json"}
	Levels  = []string{"debug", "info", "warn", "error"}
)

// NewLogger returns a logger of a format and a level by their names.
func NewLogger(w io.Writer, format, level string) (*slog.Logger, error) {
	var l slog.Level
	switch level {
	case "debug":
		l = slog.LevelDebug
	case "info":
	case "warn":
		l = slog.LevelWarn
	case "error":
		l = slog.LevelError
	default:
		return nil, fmt.Errorf("log level %q: wanted debug, info, warn or error", level)
	}
	opts := &slog.HandlerOptions{Level: l}
	w = printable{w}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, opts)), nil
	}
	return nil, fmt.Errorf("log format %q: wanted text or json", format)
}

// printable puts a question mark in place of each control character that the handlers of
// log/slog leave as it is, DEL and those from U+0080 to U+009F: what a client sent must
// not speak to the terminal that shows the log.
type printable struct{ io.Writer }

func (w printable) Write(b []byte) (int, error) {
	clean := b
	for i := range b {
		switch {
		case b[i] == 0x7f:
		case b[i] == 0xc2 && i+1 < len(b) && b[i+1] >= 0x80 && b[i+1] < 0xa0: // as UTF-8
		default:
			continue
		}
		if &clean[0] == &b[0] {
			clean = bytes.Clone(b)
		}
		clean[i] = '?'
		if b[i] == 0xc2 {
			clean[i+1] = '?'
		}
	}
	return w.Writer.Write(clean)
}

// WithRequests returns a logger that adds to each line of a request the request's id,
// and when it is traced the id of its trace.
func WithRequests(log *slog.Logger) *slog.Logger { return slog.New(ofRequest{log.Handler()}) }

type ofRequest struct{ slog.Handler }

func (h ofRequest) Handle(ctx context.Context, r slog.Record) error {
	if rec := request.From(ctx); rec != nil {
		r.AddAttrs(slog.String("request", rec.ID))
		if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
			r.AddAttrs(slog.String("trace", sc.TraceID().String()))
		}
	}
	return h.Handler.Handle(ctx, r)
}

func (h ofRequest) WithAttrs(attrs []slog.Attr) slog.Handler {
	return ofRequest{h.Handler.WithAttrs(attrs)}
}

func (h ofRequest) WithGroup(name string) slog.Handler { return ofRequest{h.Handler.WithGroup(name)} }
