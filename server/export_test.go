package server

// NewAging is New with another time for connections and streams.
var NewAging = newServer
