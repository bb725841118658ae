// Package studio opens every page of the studio in Chromium and checks it. It builds the servers
// and starts them as processes. One server has the graph code of this repository, one the module
// that `gq init` makes, and one has graphs with unusual contents. The tests skip if Chromium is not
// installed. They form a module of their own, so that the server does not depend on the package
// that controls the browser. TestDocumentation opens the site of the documentation, for which it needs no server.
package studio
