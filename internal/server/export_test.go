package server

// TakeMemory reserves bytes of the memory of all queries, as in-flight queries do. It reports
// whether they were free.
func (s *Server) TakeMemory(bytes int64) bool { return s.memory.Take(bytes) }
