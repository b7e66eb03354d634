package access

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/kubernetes"
)

const (
	// Group is that of the resources in a SubjectAccessReview.
	Group = "poolwright.dev"
	// mostAnswers of the API server are remembered, of each kind.
	mostAnswers = 8192
	// mostTime that the API server has for an answer.
	mostTime = 5 * time.Second
)

// cluster asks the API server of a cluster. Tokens are kept as digests alone.
type cluster struct {
	client kubernetes.Interface
	asking singleflight.Group
	// users are by token and audiences, rights by user and attributes. Granted are the rights that
	// there were lately.
	users, rights, granted *cache.LRUExpireCache
}

func newCluster(client kubernetes.Interface) *cluster {
	return &cluster{
		client: client, users: cache.NewLRUExpireCache(mostAnswers),
		rights: cache.NewLRUExpireCache(mostAnswers), granted: cache.NewLRUExpireCache(mostAnswers),
	}
}

// digest of what was asked: it is the same only for the same.
func digest(parts ...any) (string, error) {
	text, err := json.Marshal(parts)
	sum := sha256.Sum256(text)
	return string(sum[:]), err
}

// remembered is what is known of a question, or what ask finds out. Those who ask the same at a
// time wait for one answer; errors are not remembered.
func remembered[T any](ctx context.Context, c *cluster, of *cache.LRUExpireCache, ttl time.Duration, key string, ask func(context.Context) (T, error)) (T, error) {
	if known, ok := of.Get(key); ok {
		return known.(T), nil
	}
	// Who asks first may leave, and others still wait.
	answer := c.asking.DoChan(key, func() (any, error) {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), mostTime)
		defer cancel()
		found, err := ask(limited)
		if err == nil && ttl > 0 {
			of.Add(key, found, ttl)
		}
		return found, err
	})
	var none T
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case r := <-answer:
		if r.Err != nil {
			return none, r.Err
		}
		return r.Val.(T), nil
	}
}

// user is whom a token belongs to; nil = nobody.
func (c *cluster) user(ctx context.Context, r *TokenReview, token string) (*User, error) {
	key, err := digest("token", token, r.Audiences)
	if err != nil {
		return nil, err
	}
	return remembered(ctx, c, c.users, r.Cache, key, func(ctx context.Context) (*User, error) {
		answer, err := c.client.AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{
			Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: r.Audiences},
		}, metav1.CreateOptions{})
		if err != nil {
			return nil, fmt.Errorf("the API server was not asked who a token belongs to: %w", err)
		}
		return reviewed(&answer.Status, r.Audiences), nil
	})
}

// reviewed is the user of a review; nil = none. An API server that knows nothing of audiences
// names none, and then the token counts for none of ours.
func reviewed(s *authenticationv1.TokenReviewStatus, audiences []string) *User {
	meant := len(audiences) == 0 || slices.ContainsFunc(audiences, func(a string) bool { return slices.Contains(s.Audiences, a) })
	if !s.Authenticated || !meant || s.User.Username == "" || s.User.Username == anonymousUser {
		return nil
	}
	u := known(s.User.Username, s.User.Groups...)
	u.UID, u.Extra = s.User.UID, make(map[string][]string, len(s.User.Extra))
	for key, values := range s.User.Extra {
		u.Extra[key] = values
	}
	return &u
}

// may asks whether a user may do something in a namespace; "" = in all of them. Attempt is as in
// [Scope.Has].
func (c *cluster) may(ctx context.Context, r *SubjectAccessReview, u *User, q *Question, namespace string, attempt func() error) (bool, error) {
	key, err := digest("right", u, q, namespace)
	if err != nil {
		return false, err
	}
	return remembered(ctx, c, c.rights, r.Cache, key, func(ctx context.Context) (bool, error) {
		if _, had := c.granted.Get(key); !had && attempt != nil {
			if err := attempt(); err != nil {
				return false, err
			}
		}
		answer, err := c.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review(u, q, namespace), metav1.CreateOptions{})
		if err != nil {
			return false, fmt.Errorf("the API server was not asked what %q may: %w", u.Name, err)
		}
		allowed := answer.Status.Allowed && !answer.Status.Denied
		if allowed {
			c.granted.Add(key, nil, lately)
		}
		return allowed, nil
	})
}

// review puts a question as the API server understands it: the method GetFleet of the
// FleetService is the verb "getfleet" on the resource "fleet", and a path is one.
func review(u *User, q *Question, namespace string) *authorizationv1.SubjectAccessReview {
	m := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: u.Name, UID: u.UID, Groups: u.Groups, Extra: make(map[string]authorizationv1.ExtraValue, len(u.Extra)),
	}}
	for key, values := range u.Extra {
		m.Spec.Extra[key] = values
	}
	if q.Method == "" {
		m.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: q.Path, Verb: q.Verb}
		return m
	}
	service, method, _ := strings.Cut(strings.ToLower(q.Method), "/")
	m.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
		Group: Group, Version: "v1", Resource: strings.TrimSuffix(service, "service"), Verb: method, Namespace: namespace,
	}
	return m
}
