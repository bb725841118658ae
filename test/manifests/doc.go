// Package manifests checks the compose files, the Kubernetes file and the Helm chart of the deployment guides with the Go
// libraries of Docker Compose, Kubernetes and Helm. It is a module of its own, because no other package needs
// these libraries.
package manifests
