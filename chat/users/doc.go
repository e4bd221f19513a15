// Package users is what operators decide about users as a whole: which of their tokens hold, who is disabled, and which
// sessions they have. Every node knows the decisions (package table), so a request asks memory and costs no command.
package users
