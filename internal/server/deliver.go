package server

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

// deliversFor returns the function for servedgraph.Config.Delivers. It returns nil if the storage is a folder.
func deliversFor(s *Server, graph string) func() bool {
	if s.shared == nil {
		return nil
	}
	g := s.shared.graph(graph)
	return func() bool {
		writer, _ := g.Writing()
		return writer
	}
}
