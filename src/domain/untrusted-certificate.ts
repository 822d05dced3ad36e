/** Whether TLS failed because of the other side's certificate: its issuer is unknown, it has expired or is another host's. */
export function isUntrusted(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  // Node's names of X.509 errors. Those with ERR_SSL are of TLS itself: the other side wants a certificate of ours.
  if (typeof code === "string" && /CERT|LEAF_SIGNATURE/.test(code)) return !code.startsWith("ERR_SSL");
  // An error may be its own cause.
  return cause instanceof Error && cause !== error && isUntrusted(cause);
}

/** How to have a private authority's certificates accepted by all but PostgreSQL's driver. */
export const TRUST_AUTHORITY = "set NODE_EXTRA_CA_CERTS to the file of the authority that signed it";

/** The same for the database. */
export const TRUST_DATABASE_AUTHORITY =
  "Add sslrootcert=/path/to/ca.pem (the file of the authority that signed PostgreSQL's certificate) to DATABASE_URL, and connect by the name that the certificate is for. Renew it if it has expired.";
