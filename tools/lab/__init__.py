# SPDX-License-Identifier: BSD-3-Clause
"""A laboratory for fragmend: namespaces, frames and the appliance itself, for the demo and the end-to-end tests."""
