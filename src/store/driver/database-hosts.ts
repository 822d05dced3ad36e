/** `user:password@`, the hosts with their ports, and everything after them. */
const AUTHORITY = /^(\w+:\/\/(?:[^/?#]*@)?)([^@/?#]*)(.*)$/s;

/**
 * The servers that a database URL names, as libpq reads them: `postgres://user@one:5432,two:5432/app`. One of
 * several is the primary; which one is found out by connecting.
 */
export class DatabaseHosts {
  readonly #urls: readonly string[];
  /**
   * Standbys are refused: always with several hosts, with a single one if the URL says
   * `target_session_attrs`.
   */
  readonly mustBePrimary: boolean;
  #current = 0;

  constructor(libpqUrl: string) {
    const url = fullyVerified(withDefaultAuthorities(libpqUrl));
    const [, before = "", hosts = "", after = ""] = AUTHORITY.exec(url) ?? [];
    this.#urls = hosts.includes(",") ? hosts.split(",").map((host) => `${before}${host}${after}`) : [url];
    this.mustBePrimary = this.count > 1 || /[?&]target_session_attrs=(read-write|primary)(&|$)/.test(url);
  }

  get count(): number {
    return this.#urls.length;
  }

  /** The server to connect to, as a URL of its own. */
  get current(): string {
    return this.#urls[this.#current] as string;
  }

  /** Moves on to the next server, unless another connection has already reported this one. */
  failed(url: string): void {
    if (url === this.current) this.#current = (this.#current + 1) % this.count;
  }
}

/** The driver does the same for all of these, unless told otherwise, and warns of it with every command. */
function fullyVerified(url: string): string {
  if (/[?&]uselibpqcompat=true(&|$)/.test(url)) return url;
  return url.replace(/([?&])sslmode=(?:prefer|require|verify-ca)(?=&|$)/, "$1sslmode=verify-full");
}

/** The driver takes `system` for a file. With it libpq always verifies the server in full. */
function withDefaultAuthorities(url: string): string {
  return url.replace(/([?&])sslrootcert=system(?=&|$)/, (_, separator) => {
    return /[?&]sslmode=/.test(url) ? `${separator}` : `${separator}sslmode=verify-full`;
  });
}
