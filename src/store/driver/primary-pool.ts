import pg from "pg";
import { errorText } from "../../domain/error-text.ts";
import { isUntrusted } from "../../domain/untrusted-certificate.ts";
import { BurstClient } from "./burst-client.ts";
import { DatabaseHosts } from "./database-hosts.ts";
import { explainLoginFailure, PasswordRequired } from "./login-failures.ts";
import { START_UP_PARAMETERS } from "./session-settings.ts";

/** A dead server must not use up the time in which the next one would answer. */
const CONNECT_TIMEOUT_MS = 2_000;

/**
 * A pool of connections to the primary among the servers in `url`: servers that are standbys or cannot be
 * reached are skipped. A connection whose server has become a standby is closed by the caller that gets error
 * 25006.
 */
export function createPrimaryPool(url: string, config: pg.PoolConfig): pg.Pool {
  const hosts = new DatabaseHosts(url);
  const Client = clientOf(hosts);
  return hosts.count === 1 ? new pg.Pool({ ...config, Client }) : new SeveralHostsPool(hosts, config, Client);
}

type ClientClass = new () => pg.ClientBase;

/** A method that the driver's types omit. */
const Driver = pg.Client.prototype as unknown as { getStartupConf(): Record<string, string> };

function clientOf(hosts: DatabaseHosts): ClientClass {
  return class PrimaryClient extends BurstClient {
    readonly #url = hosts.current;
    #isStandby = false;

    constructor(config: pg.ClientConfig = {}) {
      super({ ...config, connectionString: hosts.current });
      if (hosts.mustBePrimary) this.#watchForStandby();
    }

    /** The driver knows only some parameters by name. */
    getStartupConf(): Record<string, string> {
      return { ...Driver.getStartupConf.call(this), ...START_UP_PARAMETERS };
    }

    // biome-ignore lint/suspicious/noExplicitAny: the pool passes a callback, which the driver can also do without
    override connect(callback?: any): any {
      if (!callback) return super.connect();
      const timer = hosts.count > 1 ? setTimeout(() => this.abandon(), CONNECT_TIMEOUT_MS) : undefined;
      super.connect((failure: Error | null) => {
        clearTimeout(timer);
        const error =
          explainLoginFailure(failure, this) ??
          (this.#isStandby ? new Error("the database server is a standby") : null);
        if (error) hosts.failed(this.#url);
        if (error && !failure) void this.end();
        // The driver leaves the connection open, and PostgreSQL waits a minute for the password.
        if (error instanceof PasswordRequired) this.abandon();
        callback(error);
      });
    }

    /** PostgreSQL reports this parameter on every new connection, and again after a promotion. */
    #watchForStandby(): void {
      const { connection } = this as unknown as { connection: NodeJS.EventEmitter };
      connection.on("parameterStatus", (status: { parameterName: string; parameterValue: string }) => {
        if (status.parameterName === "in_hot_standby") this.#isStandby = status.parameterValue === "on";
      });
    }
  };
}

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void;

/** Tries every server before a connection fails. */
class SeveralHostsPool extends pg.Pool {
  readonly #hosts: DatabaseHosts;

  constructor(hosts: DatabaseHosts, config: pg.PoolConfig, Client: ClientClass) {
    super({ ...config, Client });
    this.#hosts = hosts;
  }

  // biome-ignore lint/suspicious/noExplicitAny: with a callback or without
  override connect(callback?: any): any {
    const connecting = this.#connectToAny();
    if (!callback) return connecting;
    const connected = callback as Connected;
    connecting.then(
      (client) => connected(undefined, client, client.release),
      (error) => connected(error, undefined, () => {}),
    );
  }

  async #connectToAny(): Promise<pg.PoolClient> {
    const errors: unknown[] = [];
    for (let serversLeft = this.#hosts.count; ; serversLeft -= 1) {
      const server = this.#hosts.current;
      try {
        return await super.connect();
      } catch (error) {
        errors.push(error);
        // Still the same server: all connections are in use.
        const isLast = serversLeft <= 1 || server === this.#hosts.current;
        if (!isLast) continue;
        // The servers share the password.
        const passwordless = errors.find((each) => each instanceof PasswordRequired);
        if (passwordless) throw passwordless;
        // Of several, one that may pass, as a certificate that is not trusted does not.
        const passing = errors.findLast((each) => !isUntrusted(each));
        const untrusted = errors.find(isUntrusted);
        if (passing instanceof Error && untrusted instanceof Error)
          passing.message = `${errorText(passing)}; the certificate of another server is not trusted: ${untrusted.message}`;
        throw passing ?? error;
      }
    }
  }
}
