//===- Error.cpp - a user's mistake as a value ------------------------------------------------===//

#include "support/Error.h"

std::string conquer::Error::message() const {
  std::string text = where.empty() ? what : where + ": " + what;
  if (!expected.empty())
    text += "; expected " + expected;
  if (!fix.empty())
    text += "; " + fix;
  return text;
}
