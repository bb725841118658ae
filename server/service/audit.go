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

// audit logs a write: what it has committed, or why it has not. A write that changed
// nothing made no commit and is no event.
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

// log writes the line of a call, at level debug.
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

// wrapper is a call of a transport's own around one of this package, for an answer in
// another form, say. The log tells what the inner one was given.
type wrapper interface{ Unwrap() tool.Call }

// unwrapped is the call inside of all wrappers.
func unwrapped(call tool.Call) tool.Call {
	for {
		w, ok := call.(wrapper)
		if !ok {
			return call
		}
		call = w.Unwrap()
	}
}

// arguments are what a call was given, in bytes that are the same for the same
// arguments, its branch and what is asked of every write aside; nil of a call that tells
// nothing of them. The data of a load is read once and by the engine: see [watch.hash].
func arguments(call tool.Call) [][]byte {
	switch c := unwrapped(call).(type) {
	case interface{ LogArguments() [][]byte }: // of other packages
		return c.LogArguments()
	case *tool.StoredCall:
		d := place.ArgsDigest(c.Args)
		return [][]byte{d[:]}
	case *AdHoc:
		params := jsontext.Value(bytes.Clone(c.Params))
		if len(params) > 0 {
			_ = params.Canonicalize() // of what is no JSON the digest is that of its bytes
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

// hash begins to hash the data of a load, if its line will be written.
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

// idempotencyKey is the key that a write was sent with, or "".
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

// digester makes digests for the log. They are keyed: most arguments are short or few,
// and a plain hash of one tells it to whoever tries them all. The key is derived from
// the one of page tokens, which is kept, so that a digest is the same after a restart.
type digester struct{ key []byte }

// digestSize is that of a digest in bytes: enough to tell requests apart.
const digestSize = 8

func newDigester(pageKey []byte) (digester, error) {
	key, err := hkdf.Key(sha256.New, pageKey, nil, "omnigraph digests of the log", sha256.Size)
	return digester{key}, err
}

// of returns the digest of the parts, each with its length, in hexadecimal.
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
