package server

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/omnigraph-go/omnigraph/internal/server/internal/uploads"
)

// uploadFolder is the name of the folder of uploads, in the storage folder or in the cache. No graph has such a name.
const uploadFolder = ".uploads"

// uploadsOf returns the uploads of each graph, by its id. A graph that the server already serves keeps its uploads, with the
// bounds of the start.
func (s *Server) uploadsOf(o *Options) (map[string]*uploads.Store, error) {
	dir := o.Cluster.Storage
	if o.Cluster.Shared != nil {
		dir = o.Cluster.Shared.Cache
	}
	all := map[string]*uploads.Store{}
	for _, g := range o.Cluster.Graphs {
		if known := s.uploads[g.ID]; known != nil {
			all[g.ID] = known
			continue
		}
		made, err := uploads.New(uploads.Options{
			Dir: filepath.Join(dir, uploadFolder, g.ID), Most: cmp.Or(o.Cluster.Server.Limits.LoadBytes, g.Quota.Bytes), Quota: g.Quota.Bytes, Now: o.Now,
		})
		if err != nil {
			return nil, fmt.Errorf("the uploads of graph %s: %w", g.ID, err)
		}
		s.uploads[g.ID], all[g.ID] = made, made
	}
	return all, nil
}
