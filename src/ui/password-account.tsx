/**
 * Tells password managers which account a form's password is for. A text field that is not shown: they overlook one of
 * the type `hidden`. https://www.chromium.org/developers/design-documents/form-styles-that-chromium-understands
 */
export function PasswordAccount({ email }: { email: string }) {
  return <input type="text" name="username" value={email} readOnly hidden autoComplete="username" />;
}
