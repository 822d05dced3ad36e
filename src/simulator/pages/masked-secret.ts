/** Shows enough to tell secrets apart, but not to sign with. */
export function maskedSecret(secret: string): string {
  return `…${secret.slice(-4)}`;
}
