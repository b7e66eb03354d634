package server

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// request is one of gRPC. It is read when there is room for it, and decoded when there is memory
// for what becomes of it.
type request struct {
	limiter *limiter
	method  string
	give    func() // the memory; nil = it has none
	done    bool   // it has been read
}

// read is [grpc.ServerStream.RecvMsg], until ctx ends.
func (q *request) read(ctx context.Context, read func(any) error, m any) (err error) {
	defer func() { q.done = err == nil }()
	l, limits := q.limiter, q.limiter.limits()
	ctx, cancel := context.WithTimeout(ctx, min(limits.Deadline, requestTime))
	defer cancel()
	address, ok := outside(ctx)
	if !ok { // REST has seen to it
		return within(ctx, read)(m)
	}
	if q.method == healthv1.Health_Check_FullMethodName {
		return nil // everybody may ask, and is told of the process: what they send takes no memory
	}
	q.end()
	raw := &undecoded{}
	room, limit := l.room(q.method)
	err = room.while(ctx, asking(ctx, address), l.most, func() error {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return within(ctx, read)(raw)
	})
	if err != nil {
		return err
	}
	wire := raw.data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer wire.Free()
	raw.data.Free()
	if err := q.admit(ctx, wire.ReadOnlyData(), m, limits); err != nil {
		return err
	}
	if err := protoCodec.Unmarshal(mem.BufferSlice{wire}, m); err != nil {
		return status.Errorf(codes.Internal, "grpc: failed to unmarshal the received message: %v", err) // as grpc has it
	}
	return nil
}

// admit takes memory for what a request is decoded to, or refuses it.
func (q *request) admit(ctx context.Context, wire []byte, m any, limits Limits) (err error) {
	if turn := turnOf(ctx); turn != nil {
		turn.bytes = len(wire)
	}
	if message, ok := m.(proto.Message); ok && q.limiter.large[q.method] {
		q.give, err = q.limiter.memory.take(len(wire), messagesIn(wire, message.ProtoReflect().Descriptor()), limits.RequestMemory)
		return err
	}
	if len(wire) > mostBytesOfOthers {
		return status.Errorf(codes.ResourceExhausted, "the request has %d bytes: more than %d are nothing that %s asks for", len(wire), mostBytesOfOthers, q.method)
	}
	return nil
}

// end gives the memory back.
func (q *request) end() {
	if q.give != nil {
		q.give()
		q.give = nil
	}
}

// undecoded is a request as it has come. Whoever reads it frees it.
type undecoded struct{ data mem.BufferSlice }

var protoCodec = encoding.GetCodecV2(encodingproto.Name)

// codec is that of gRPC, but for requests that are decoded later.
type codec struct{ encoding.CodecV2 }

// Unmarshal implements [encoding.CodecV2].
func (c codec) Unmarshal(data mem.BufferSlice, m any) error {
	raw, ok := m.(*undecoded)
	if !ok {
		return c.CodecV2.Unmarshal(data, m)
	}
	data.Ref()
	raw.data = data
	return nil
}

// readStream is a stream whose messages are requests, each of which is to come within a time.
type readStream struct {
	grpc.ServerStream
	request *request
}

// RecvMsg implements [grpc.ServerStream].
func (s *readStream) RecvMsg(m any) error {
	return s.request.read(s.Context(), s.ServerStream.RecvMsg, m)
}
