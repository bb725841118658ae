package service

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/omnigraph-go/omnigraph/server/place"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// audit logs a write: the commit it made, or the reason why it failed. It does not log a
// write that succeeded without changing anything.
func (w *watch) audit(ctx context.Context, outcome Outcome, err error, took time.Duration) {
	if w.wrote == nil && (err == nil || !w.writes) {
		return
	}
	log := w.graph.log
	if !log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs := make([]slog.Attr, 0, 8)
	attrs = append(attrs, slog.String("tool", w.name), slog.String("actor", actorID(w.actor)))
	message := "write"
	if w.wrote != nil {
		attrs = append(attrs, slog.String("branch", w.wrote.Branch), slog.String("commit", commitID(w.wrote.Commit)))
	} else {
		message = "write refused"
		attrs = append(attrs, slog.String("branch", w.branch), slog.String("outcome", string(outcome)))
	}
	attrs = append(attrs, slog.Duration("duration", took))
	if key := idempotencyKey(w.call); key != "" {
		attrs = append(attrs, slog.String("idempotency_key", w.graph.LogDigest([]byte(key))))
	}
	log.LogAttrs(ctx, slog.LevelInfo, message, attrs...)
}

// log logs a call at level debug.
func (w *watch) log(ctx context.Context, e *encoder, outcome Outcome, rows int, took time.Duration) {
	log := w.graph.log
	if !log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{
		slog.String("tool", w.name), slog.String("actor", actorID(w.actor)), slog.String("branch", w.branch), slog.String("commit", w.commit),
		slog.String("outcome", string(outcome)), slog.Int("rows", rows), slog.Duration("duration", took),
	}
	if args := arguments(w.call); args != nil {
		if w.data != nil {
			args = append(args, w.data.Sum(nil))
		}
		attrs = append(attrs, slog.String("args", w.graph.LogDigest(args...)))
	}
	if outcome == Done {
		attrs = append(attrs, slog.String("result", w.graph.LogDigest(append(slices.Clone(e.full), e.buf[min(w.mark.bytes, len(e.buf)):])...)))
	}
	log.LogAttrs(ctx, slog.LevelDebug, "call", attrs...)
}

// wrapper is implemented by calls of a transport that wrap a call of this package, for
// example to give the answer another form. The log describes the inner call.
type wrapper interface{ Unwrap() tool.Call }

// unwrapped removes all wrappers from a call.
func unwrapped(call tool.Call) tool.Call {
	for {
		w, ok := call.(wrapper)
		if !ok {
			return call
		}
		call = w.Unwrap()
	}
}

// arguments returns the arguments of a call, without its branch and without the options
// that all writes share. Equal arguments give equal bytes. The result is nil for a call
// that does not report its arguments. The data of a load is not included, because only the
// engine reads it, and only once: see [watch.hash].
func arguments(call tool.Call) [][]byte {
	switch c := unwrapped(call).(type) {
	case interface{ LogArguments() [][]byte }: // calls of other packages
		return c.LogArguments()
	case *tool.StoredCall:
		d := place.ArgsDigest(c.Args)
		return [][]byte{d[:]}
	case *AdHoc:
		params := jsontext.Value(bytes.Clone(c.Params))
		if len(params) > 0 {
			_ = params.Canonicalize() // if it is not valid JSON, the digest covers the original bytes
		}
		return [][]byte{[]byte(c.Source), []byte(c.Name), params}
	case *CreateBranch:
		return [][]byte{[]byte(c.Name), []byte(c.From), []byte(c.Commit)}
	case *DeleteBranch:
		return [][]byte{[]byte(c.Name)}
	case *MergeBranches:
		return [][]byte{[]byte(c.Source), []byte(c.Target)}
	case *ApplySchema:
		return [][]byte{[]byte(c.Source), flags(c.Options.AllowDataLoss, c.Options.Hard)}
	case *Load:
		return [][]byte{[]byte(c.Mode.String())}
	case *LoadFrom:
		return [][]byte{[]byte(c.Mode.String()), []byte(c.From)}
	case *Verify:
		return [][]byte{}
	case *Cleanup:
		return [][]byte{strconv.AppendInt(nil, int64(c.Options.KeepCommits), 10), c.Options.Before.UTC().AppendFormat(nil, time.RFC3339Nano)}
	}
	return nil
}

func flags(set ...bool) []byte {
	b := make([]byte, len(set))
	for i, is := range set {
		if is {
			b[i] = 1
		}
	}
	return b
}

// hash starts to hash the data of a load if the call will be logged.
func (w *watch) hash(ctx context.Context) {
	var load *Load
	switch c := unwrapped(w.call).(type) {
	case *Load:
		load = c
	case *LoadFrom:
		load = c.Load
	default:
		return
	}
	if load.Data != nil && w.graph.log.Enabled(ctx, slog.LevelDebug) {
		w.data = sha256.New()
		load.Data = io.TeeReader(load.Data, w.data)
	}
}

// idempotencyKey returns the idempotency key of a write, or "".
func idempotencyKey(call tool.Call) string {
	switch c := unwrapped(call).(type) {
	case *tool.StoredCall:
		return c.Knobs.IdempotencyKey
	case *AdHoc:
		return c.Knobs.IdempotencyKey
	case *Load:
		return c.Knobs.IdempotencyKey
	case *LoadFrom:
		return c.Knobs.IdempotencyKey
	case *MergeBranches:
		return c.Options.IdempotencyKey
	case *ApplySchema:
		return c.Options.IdempotencyKey
	}
	return ""
}

// digester makes digests of arguments for the log. They are keyed, because most arguments
// are so short or few that an attacker could find them by hashing all candidates. The key
// is derived from the key of page tokens, which is stored, so digests stay the same after a
// restart.
type digester struct{ key []byte }

// digestSize is the size of a digest in bytes. It is large enough to tell requests apart.
const digestSize = 8

func newDigester(pageKey []byte) (digester, error) {
	key, err := hkdf.Key(sha256.New, pageKey, nil, "omnigraph digests of the log", sha256.Size)
	return digester{key}, err
}

// of returns the digest of the parts in hexadecimal. It hashes the length of each part
// before the part.
func (d digester) of(parts ...[]byte) string {
	h := hmac.New(sha256.New, d.key)
	for _, p := range parts {
		var n [8]byte
		for i := range n {
			n[i] = byte(len(p) >> (8 * i))
		}
		h.Write(n[:])
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil)[:digestSize])
}
