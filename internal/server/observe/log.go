// Package observe implements the log, the metrics and the traces of a server.
package observe

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"

	"github.com/omnigraph-go/omnigraph/internal/server/internal/requestinfo"
)

// Formats and Levels list the names that [NewLogger] accepts.
var (
	Formats = []string{"text", "json"}
	Levels  = []string{"debug", "info", "warn", "error"}
)

// NewLogger returns a logger that writes to w. The format and the level are given by name.
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
		return nil, fmt.Errorf("log level %q: expected debug, info, warn or error", level)
	}
	opts := &slog.HandlerOptions{Level: l}
	w = printable{w}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, opts)), nil
	}
	return nil, fmt.Errorf("log format %q: expected text or json", format)
}

// printable replaces with a question mark each control character that the handlers of
// log/slog do not escape: DEL and U+0080 to U+009F. Otherwise text from a client could send
// control sequences to the terminal that shows the log.
type printable struct{ io.Writer }

func (w printable) Write(b []byte) (int, error) {
	clean := b
	for i := range b {
		switch {
		case b[i] == 0x7f:
		case b[i] == 0xc2 && i+1 < len(b) && b[i+1] >= 0x80 && b[i+1] < 0xa0: // a C1 control character
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

// WithRequests returns a logger that adds the request's id to each log line of a request. If the
// request is traced, the logger also adds the trace id.
func WithRequests(log *slog.Logger) *slog.Logger { return slog.New(infoHandler{log.Handler()}) }

// infoHandler adds the id of the request in the context to each log line.
type infoHandler struct{ slog.Handler }

func (h infoHandler) Handle(ctx context.Context, r slog.Record) error {
	if rec := requestinfo.From(ctx); rec != nil {
		r.AddAttrs(slog.String("request", rec.ID))
		if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
			r.AddAttrs(slog.String("trace", sc.TraceID().String()))
		}
	}
	return h.Handler.Handle(ctx, r)
}

func (h infoHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return infoHandler{h.Handler.WithAttrs(attrs)}
}

func (h infoHandler) WithGroup(name string) slog.Handler {
	return infoHandler{h.Handler.WithGroup(name)}
}
