package web

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/chatd/chatd/chat/health"
)

// metrics are the metrics of one server. Labels are route templates, methods, statuses and codes, but never users or groups,
// whose number is unbounded.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	errors   *prometheus.CounterVec
	panics   prometheus.Counter
	inFlight prometheus.Gauge
}

func newMetrics(sessions SessionHandler, meter *health.Meter) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chatd_http_requests_total", Help: "HTTP requests by route template, method and status.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "chatd_http_request_seconds", Help: "Duration of HTTP requests, the wait of long polls included.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"route", "method"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chatd_errors_total", Help: "Requests refused or failed, by code.",
		}, []string{"code"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "chatd_requests_in_flight", Help: "HTTP requests that are being answered, long polls included.",
		}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{Name: "chatd_panics_total", Help: "Handlers that panicked."}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.errors, m.panics, m.inFlight,
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "chatd_messages_sent_total", Help: "Messages taken, over HTTP and websockets."},
			func() float64 { return float64(meter.Messages.Load()) }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if sessions != nil {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "chatd_sessions", Help: "Live websocket sessions.",
		}, func() float64 { return float64(sessions.Count()) }))
	}
	return m
}

func (m *metrics) observe(method, route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	if status != http.StatusSwitchingProtocols {
		m.seconds.WithLabelValues(route, method).Observe(took.Seconds())
	}
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// localMetrics serves the metrics only to clients on the same host; for all others the route does not exist.
func (s *Server) localMetrics(c echo.Context) error {
	if !sameHost(c.Request()) {
		return errNoRoute
	}
	s.metrics.handler().ServeHTTP(c.Response(), c.Request())
	return nil
}

// sameHost reports whether a request was made on this host, and to a name of this host. Checking only the peer's address
// would accept a proxy on the host, and a page that rebinds its name to 127.0.0.1.
func sameHost(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback() && IsLoopback(r.Host)
}

// IsLoopback reports whether a host, with or without a port, names this host itself.
func IsLoopback(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.Unmap().IsLoopback()
}
