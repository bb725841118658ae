package server

// TakeMemory takes from the memory of all queries, as queries under way do.
func (s *Server) TakeMemory(bytes int64) bool { return s.memory.Take(bytes) }
