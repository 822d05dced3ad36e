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

export function confirmOldAddressLetter(to: string, url: string, newEmail: string): EmailMessage {
  return {
    to,
    subject: "Confirm the change of your e-mail address",
    text: `Somebody, hopefully you, asked to change the address of this account to ${newEmail}. To agree, open this link within an
hour; the new address has to be confirmed as well:

${url}

If it was not you, do not open the link, and change your password: somebody else is signed in to your account.
`,
  };
}

export function confirmNewAddressLetter(to: string, url: string): EmailMessage {
  return {
    to,
    subject: "Confirm your new e-mail address",
    text: `To use this address for your account, open this link within an hour; the old address has to be confirmed as well:

${url}

If you have not asked for this, there is nothing to do.
`,
  };
}

export function emailChangedLetter(to: string, newEmail: string): EmailMessage {
  return {
    to,
    subject: "Your e-mail address was changed",
    text: `Your account now uses the address ${newEmail}. Mails no longer go to this one.
`,
  };
}
