// Package web is the page with which a browser restores pictures, by the library itself, compiled
// to WebAssembly; and the server of its files. Pictures never leave the browser: the server has
// files to give, and takes nothing.
//
// The files are made by web/build, the command behind make web, and are part of a program that is
// built with the tag web.
package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

// policy is the content security policy: scripts, style and files of this server alone, the
// WebAssembly that they compile, pictures and workers of the page's own making, and nothing else.
// Workers share no memory, so the page need not be isolated from others (COEP).
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src blob: data:; " +
	"connect-src 'self'; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// types are those of the files of a page.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".wasm": "application/wasm",
}

// Handler serves the files of a page. What is there as NAME.gz is served as NAME.
//
// It answers only who names the loopback interface as the host. Another page's script can make a
// host of its own stand for 127.0.0.1 and then read what that host answers (DNS rebinding); it
// cannot choose the name that its browser sends.
func Handler(files fs.FS) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache")
		if !loopback(r.Host) {
			http.Error(w, "this server answers for localhost alone", http.StatusMisdirectedRequest)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "there are files to get, and nothing else", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "" {
			name = "index.html"
		}
		kind, known := types[path.Ext(name)]
		content, packed, err := find(files, name)
		if !known || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
			http.NotFound(w, r)
			return
		}
		if packed && err == nil {
			h.Set("Vary", "Accept-Encoding")
			if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
				h.Set("Content-Encoding", "gzip")
			} else {
				content, err = unpack(content)
			}
		}
		if err != nil {
			http.Error(w, "the file cannot be read", http.StatusInternalServerError)
			return
		}
		h.Set("Content-Type", kind)
		h.Set("Content-Length", strconv.Itoa(len(content)))
		if r.Method == http.MethodGet {
			_, _ = w.Write(content) // who does not want the rest has gone
		}
	})
}

// loopback tells whether a Host header names the loopback interface. The port is not looked at:
// whoever answers on another one is not this server.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// find returns a file, and whether it is compressed.
func find(files fs.FS, name string) (content []byte, packed bool, err error) {
	if content, err = fs.ReadFile(files, name); !errors.Is(err, fs.ErrNotExist) {
		return content, false, err
	}
	content, err = fs.ReadFile(files, name+".gz")
	return content, true, err
}

func unpack(content []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Check returns an error unless the files are those of a page.
func Check(files fs.FS) error {
	for _, name := range []string{"index.html", "page.js", "worker.js", "wasm_exec.js", "style.css", "restore.wasm"} {
		if _, _, err := find(files, name); err != nil {
			return err
		}
	}
	return nil
}

// Listen listens on the loopback interface, at a port or, where that is 0, at any free one. It
// returns the address of the page, too.
func Listen(port int) (net.Listener, string, error) {
	var errs []error
	for _, host := range []string{"127.0.0.1", "::1"} { // the second where there is no first
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			return l, fmt.Sprintf("http://%s/", l.Addr()), nil
		}
		errs = append(errs, err)
	}
	return nil, "", errs[0]
}

// Serve serves the files of a page until ctx ends. It closes l.
func Serve(ctx context.Context, l net.Listener, files fs.FS) error {
	s := &http.Server{Handler: Handler(files), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if s.Shutdown(ending) != nil {
			s.Close()
		}
	})
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
