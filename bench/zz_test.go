package bench
import ("testing";"os")
func BenchmarkZZ(b *testing.B){ os.RemoveAll("/tmp/map-graph"); socialGraph(b, "/tmp/map-graph") }
