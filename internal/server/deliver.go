package server

import "github.com/omnigraph-go/omnigraph/internal/server/servedgraph"

// deliver sends the events of the webhooks of a generation's graphs until the generation ends. The generation before may still be about to
// send its last ones.
func deliver(s *Server, g *generation) {
	for _, served := range g.served {
		s.delivering.Go(func() { served.Deliver(g.streams) })
	}
}

// endDeliveries ends the deliveries of the current generation, and waits for them.
func endDeliveries(s *Server) {
	if g := s.current.Load(); g != nil {
		g.end(nil)
	}
	s.delivering.Wait()
}

// deliversFor returns the value for servedgraph.Config.Delivers.
func deliversFor(s *Server, graph string) servedgraph.WriterRole {
	if s.shared == nil {
		return servedgraph.WriterRole{}
	}
	g := s.shared.graph(graph)
	writes := func() bool {
		writer, _ := g.Writing()
		return writer
	}
	return servedgraph.WriterRole{Writes: writes, Claim: g.Claim, Tenure: g.Tenure}
}
