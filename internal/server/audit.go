package server

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/audit"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/requestinfo"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

const (
	// auditServer is the name of the server in a storage folder, which one server uses.
	auditServer = "server"

	// auditCloseTime bounds the time for storing the last records.
	auditCloseTime = 10 * time.Second
)

// openTrail opens the audit trail of this server, unless cluster.yaml wants none.
func (s *Server) openTrail(ctx context.Context, o *Options) error {
	c := o.Cluster.Server.Audit
	if c.Off {
		return nil
	}
	options := audittrail.Options{
		Server: o.Node, Version: o.Version, Keep: c.Keep, Quota: c.Quota, Refuse: c.Refuse, Now: o.Now, Log: o.Log, Head: auditHead(o.Tracer),
	}
	if options.Keep == 0 { // a configuration that no file has
		options.Keep, options.Quota = audittrail.DefaultKeep, audittrail.DefaultQuota
	}
	var store *audittrail.Store
	if s.shared != nil {
		store = audittrail.NewStore(s.shared.storage.Bucket, audittrail.Prefix)
	} else {
		dir := filepath.Join(o.Cluster.Storage, audittrail.Folder)
		folder, err := object.NewFolder(fs.OS(), dir)
		if err != nil {
			return err
		}
		var lock io.Closer
		if options.Server, lock, err = lockTrail(dir); err != nil {
			return err
		}
		s.closers = append(s.closers, lock)
		options.Exclusive = true
		removeTemporary(dir)
		store = audittrail.NewStore(folder, "")
	}
	trail, err := audittrail.Open(ctx, store, options)
	if err != nil {
		return err
	}
	s.trail, s.strangers = trail, audit.NewUnidentified(trail)
	s.metrics.Audited(trail.Stats)
	return nil
}

// lockTrail locks a chain in the folder of the audit trail, and returns its name. A server that starts while the one before it
// drains gets a chain of its own.
func lockTrail(dir string) (name string, lock io.Closer, err error) {
	name = auditServer
	for i := 2; ; i++ {
		lock, err = fs.OS().Lock(filepath.Join(dir, "~"+name+lockSuffix)) // the folder does not take it for an object
		var held *fs.LockedError
		if !errors.As(err, &held) || i > maxChains {
			return name, lock, err
		}
		name = fmt.Sprintf("%s-%d", auditServer, i)
	}
}

const (
	lockSuffix = ".lock"
	maxChains  = 9
)

// removeTemporary removes the temporary files that servers left which were killed while they wrote.
func removeTemporary(dir string) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, f := range files {
		info, err := f.Info()
		if err == nil && strings.HasPrefix(f.Name(), "~") && !strings.HasSuffix(f.Name(), lockSuffix) && clock.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(filepath.Join(dir, f.Name())) // it only takes room
		}
	}
}

// unidentified records a request without a valid token, with the graph in its path.
func unidentified(s *Server, r *http.Request) {
	graph := ""
	if path, ok := strings.CutPrefix(r.URL.Path, "/graphs/"); ok {
		id, _, _ := strings.Cut(path, "/")
		if g := s.current.Load(); g != nil && slices.ContainsFunc(g.served, func(g *servedgraph.Graph) bool { return g.ID() == id }) {
			graph = id
		}
	}
	request := ""
	if info := requestinfo.From(r.Context()); info != nil {
		request = info.ID
	}
	s.strangers.Refused(graph, request)
}

// auditHead returns a function that sends the number and the hash of the last record as a span, or nil without a tracer.
func auditHead(tracer trace.TracerProvider) func(uint64, audittrail.Hash) {
	if tracer == nil {
		return nil
	}
	return func(number uint64, hash audittrail.Hash) {
		_, span := tracer.Tracer("github.com/omnigraph-go/omnigraph/server").Start(context.Background(), "audit head", trace.WithNewRoot(),
			trace.WithAttributes(attribute.Int64("omnigraph.audit.record", int64(number)), attribute.String("omnigraph.audit.hash", hex.EncodeToString(hash[:]))))
		span.End()
	}
}

// closeTrail stores the last records. The trail may be nil. If they cannot be stored, the log says so: the graphs are whole nevertheless.
func closeTrail(trail *audittrail.Trail, log *slog.Logger) {
	if trail == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), auditCloseTime)
	defer cancel()
	if err := trail.Close(ctx); err != nil {
		log.Error("the last records of the audit trail are lost", "error", err)
	}
}
