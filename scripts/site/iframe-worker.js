/* iframe-worker.js - search without a server: browsers start no worker for a page from a file, so a hidden frame
 * executes its script instead.  The theme expects this class (https://squidfunk.github.io/mkdocs-material, offline). */
"use strict";

window.IFrameWorker = class extends EventTarget {
  constructor(url) {
    super();
    this.onmessage = this.onerror = null;
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.append(this.frame);
    const scope = this.frame.contentWindow;
    this.ready = new Promise((resolve) => {
      scope.document.open();
      scope.document.write("<!doctype html><html><body></body></html>");
      scope.document.close();
      scope.postMessage = (data) => this.receive(data);
      scope.importScripts = (...urls) => urls.reduce((done, u) => done.then(() => this.load(new URL(u, url).href)),
                                                     Promise.resolve());
      this.load(url).then(resolve);
    });
  }

  load(url) {
    return new Promise((resolve, reject) => {
      const script = this.frame.contentDocument.createElement("script");
      script.src = url;
      script.onload = resolve;
      script.onerror = reject;
      this.frame.contentDocument.body.append(script);
    });
  }

  receive(data) {
    const event = new MessageEvent("message", { data });
    setTimeout(() => {
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    });
  }

  postMessage(data) {
    const scope = this.frame.contentWindow;
    this.ready.then(() => scope.dispatchEvent(new scope.MessageEvent("message", { data })));
  }

  terminate() {
    this.frame.remove();
  }
};

if (location.protocol === "file:") window.Worker = window.IFrameWorker;
