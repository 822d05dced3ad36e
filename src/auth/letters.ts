import type { EmailMessage } from "../mail/email-message.ts";

export function resetLetter(to: string, url: string): EmailMessage {
  return {
    to,
    subject: "Reset your password",
    text: `Somebody, hopefully you, asked to set a new password for this address. To do so, open this link within an hour:

${url}

If it was not you, there is nothing to do: the password stays as it is.
`,
  };
}

export function confirmationLetter(to: string, url: string): EmailMessage {
  return {
    to,
    subject: "Confirm your e-mail address",
    text: `To confirm this address, open this link within an hour:

${url}

If you have not signed up, there is nothing to do.
`,
  };
}

/** Said by mail alone, so that the sign-up form does not tell who has an account. */
export function existingAccountLetter(to: string): EmailMessage {
  return {
    to,
    subject: "You already have an account",
    text: `Somebody, hopefully you, tried to sign up with this address, which already has an account. Sign in instead, or ask for
a new password if you have forgotten it.

If it was not you, there is nothing to do.
`,
  };
}
