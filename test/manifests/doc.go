// Package manifests checks the compose files and the Kubernetes file of the deployment guides with the Go
// libraries of Docker Compose and Kubernetes. It is a module of its own, because no other package needs
// these libraries.
package manifests
